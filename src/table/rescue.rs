//! The rescue runs one by one, with their controls over the same interval after the
//! release (Tables 8 and 9), from a rescue test's verdict.

use crate::judged::statistics::RunStatistics;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::measure::capped::CappedPhase;
use crate::measure::rescue::{AfterRelease, ControlAfter, RescueMeasures};
use crate::measure::stretches::Stretches;
use crate::rule::rescue::RescueOrControl;
use crate::rule::test::TestMeasures;
use crate::setup::Span;

use super::about_run::{AboutRun, rate_multiple, run, seed, source};
use super::{Cell, Col, Table};

/// The 300 s bins in which R4 dipped, and the one before (App. E.7).
const DIP: [Span; 2] = [Span::new(2700.0, 3000.0), Span::new(3000.0, 3300.0)];

/// A rescue run.
struct Rescued<'a> {
    run: &'a VerdictRun,
    registration: &'a str,
    rescue: &'a RescueMeasures,
    /// When it had recovered before the release, s.
    recovered_s: Option<f64>,
    /// What was measured while the cap was on; `None` where it never was.
    capped: Option<CappedPhase>,
}

impl AboutRun for Rescued<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl<'a> Rescued<'a> {
    fn of(run: &'a VerdictRun, registration: &'a str) -> Option<Self> {
        let Some(TestMeasures::Rescue(found)) = &run.for_test else { return None };
        let RescueOrControl::Rescue { measures: rescue, recovered_s } = found else { return None };
        let until_s = rescue.released_s.unwrap_or(run.meta.duration_s);
        let phase = |from_s| CappedPhase::of(&run.measures.series, Span::new(from_s, until_s));
        let capped = rescue.engaged_s.map(phase);
        Some(Self { run, registration, rescue, recovered_s: *recovered_s, capped })
    }

    /// What is found after the release; nothing without one.
    fn after(&self, found: impl FnOnce(&AfterRelease) -> Cell) -> Cell {
        self.rescue.after.as_ref().map_or(Cell::Empty, found)
    }

    /// The same of its BURST or NOBURST control.
    fn control(&self, place: usize, found: impl FnOnce(&ControlAfter) -> Cell) -> Cell {
        self.run.controls_after[place].as_ref().map_or(Cell::Empty, found)
    }

    /// What is found while the cap was on; unknown where a follow-up then is.
    fn capped(&self, found: impl FnOnce(&CappedPhase) -> Option<f64>, digits: usize) -> Cell {
        match &self.capped {
            Some(phase) if phase.is_known() => Cell::optional(found(phase), digits),
            Some(_) => Cell::Unknown,
            None => Cell::Empty,
        }
    }

    /// The share of follow-ups that hit in a bin, for a run whose cap was on.
    fn dip(&self, span: Span) -> Cell {
        let bins = Stretches::of(&self.run.measures.series.follow_up_hits);
        let share = |_: &CappedPhase| Cell::known(bins.within(span).total().value(), 3);
        self.capped.as_ref().map_or(Cell::Empty, share)
    }

    /// How long a session was paused, on average over so many.
    fn pause_over(&self, sessions: u64) -> Cell {
        let mean = (sessions > 0).then(|| self.rescue.pause.total_s / sessions as f64);
        Cell::optional(mean, 1)
    }
}

fn columns<'a>() -> Vec<Col<Rescued<'a>>> {
    vec![
        Col::key("registration", "", |of| Cell::text(of.registration)),
        run(),
        source(),
        rate_multiple(),
        seed(),
        Col::new("label", "", |of| {
            of.run.labelled.as_ref().map_or(Cell::Empty, |l| Cell::text(l.label))
        }),
        Col::new("cap_sessions", "sessions", |of| of.rescue.cap.map_or(Cell::Unknown, Cell::Count)),
        Col::known("engaged_s", "s", 3, |of| of.rescue.engaged_s),
        Col::number("outstanding_at_engage_sessions", "sessions", 0, |of| of.rescue.outstanding_on),
        Col::new("released", "", |of| Cell::yes_no(Some(of.rescue.released_s.is_some()))),
        Col::optional("released_s", "s", 0, |of| of.rescue.released_s),
        Col::count("sessions_paused", "sessions", |of| of.rescue.sessions_paused),
        Col::number("held_most_sessions", "sessions", 0, |of| of.rescue.held_max),
        Col::new("backlog_most_after_sessions", "sessions", |of| {
            of.after(|after| Cell::Number(after.backlog_max, 0))
        }),
        Col::number("delay_session_hours", "session-hours", 1, |of| of.rescue.held_session_hours),
        Col::new("follow_up_hit_fraction_after", "", |of| {
            of.after(|after| Cell::known(after.follow_up_hits.value(), 3))
        }),
        Col::new("lowest_tile_after", "", |of| {
            of.after(|after| {
                let tiles = after.tiles.iter().map(|(_, share)| share.value());
                let values: Option<Vec<f64>> = tiles.collect();
                Cell::known(values.and_then(|v| v.into_iter().min_by(f64::total_cmp)), 3)
            })
        }),
        Col::new("outstanding_mean_after_sessions", "sessions", |of| {
            of.after(|after| Cell::Number(after.outstanding_mean, 1))
        }),
        Col::new("burst_follow_up_hit_fraction_after", "", |of| of.control(0, follow_up_hits)),
        Col::new("burst_outstanding_mean_after_sessions", "sessions", |of| {
            of.control(0, outstanding_mean)
        }),
        Col::new("noburst_follow_up_hit_fraction_after", "", |of| of.control(1, follow_up_hits)),
        Col::new("noburst_outstanding_mean_after_sessions", "sessions", |of| {
            of.control(1, outstanding_mean)
        }),
        Col::new("hits_back_s", "s", |of| of.capped(CappedPhase::hits_back_s, 0)),
        Col::new("hits_hold_s", "s", |of| of.capped(|p| Some(p.last_low()?.end_s), 0)),
        Col::new("lowest_60s_follow_up_hit_capped", "", |of| {
            of.capped(CappedPhase::lowest_after_return, 3)
        }),
        Col::new("last_low_60s_bin_after_engage_s", "s", |of| {
            of.capped(|phase| Some(phase.last_low()?.start_s - of.rescue.engaged_s?), 0)
        }),
        Col::new("least_300s_follow_up_hit_capped", "", |of| {
            of.capped(|phase| Some(phase.long_bins()?[0]), 3)
        }),
        Col::new("most_300s_follow_up_hit_capped", "", |of| {
            of.capped(|phase| Some(phase.long_bins()?[1]), 3)
        }),
        Col::new("follow_up_hit_2700_3000", "", |of| of.dip(DIP[0])),
        Col::new("follow_up_hit_3000_3300", "", |of| of.dip(DIP[1])),
        Col::new("outstanding_most_sessions", "sessions", |of| {
            let most = |phase: &CappedPhase| Cell::known(phase.outstanding_most, 1);
            of.capped.as_ref().map_or(Cell::Empty, most)
        }),
        Col::optional("recovered_before_release_s", "s", 0, |of| {
            of.rescue.released_s.zip(of.recovered_s).map(|(end, t)| end - t)
        }),
        Col::new("pause_mean_s", "s", |of| of.pause_over(of.rescue.sessions_paused)),
        Col::optional("longest_pause_s", "s", 0, |of| of.rescue.pause.longest_s),
        Col::new("pause_mean_all_sessions_s", "s", |of| {
            of.pause_over(of.run.measures.whole.sessions_arrived)
        }),
    ]
}

fn follow_up_hits(control: &ControlAfter) -> Cell {
    Cell::known(control.follow_up_hits.value(), 3)
}

fn outstanding_mean(control: &ControlAfter) -> Cell {
    Cell::Number(control.outstanding_mean, 1)
}

/// The table; empty for a verdict on another kind of test.
pub fn table(verdict: &Verdict) -> Table {
    let name = verdict.registration.registration.name.as_str();
    let subjects = verdict.runs.iter().filter(|run| run.role == "subject");
    let rows = subjects.filter_map(|run| Rescued::of(run, name));
    let title = format!("Rescue runs of registration {name}");
    Table::of("rescue", title, &columns(), rows, |of| {
        (format!("{}/{}", of.registration, of.dir()), of.sources())
    })
}
