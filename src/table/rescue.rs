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
use super::{Cell, Col, Heading, Table};

/// The 300 s bins in which R4 dipped, and the one before (App. E.7).
const DIP: [Span; 2] = [Span::new(2700.0, 3000.0), Span::new(3000.0, 3300.0)];

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
        Heading("registration", "", "The registration that judges, by its name or hash")
            .key(|of| Cell::text(of.registration)),
        run(),
        source(),
        rate_multiple(),
        seed(),
        Heading("label", "", "The run's label under the rule")
            .new(|of| of.run.labelled.as_ref().map_or(Cell::Empty, |l| Cell::text(l.label))),
        Heading("cap_sessions", "sessions", "The cap")
            .new(|of| of.rescue.cap.map_or(Cell::Unknown, Cell::Count)),
        Heading("engaged_s", "s", "When the cap engaged").known(3, |of| of.rescue.engaged_s),
        Heading("outstanding_at_engage_sessions", "sessions", "Outstanding when the cap engaged")
            .number(0, |of| of.rescue.outstanding_on),
        Heading("released", "", "Whether the cap came off")
            .new(|of| Cell::yes_no(Some(of.rescue.released_s.is_some()))),
        Heading("released_s", "s", "When the cap came off").optional(0, |of| of.rescue.released_s),
        Heading("sessions_paused", "sessions", "Sessions paused by the cap")
            .count(|of| of.rescue.sessions_paused),
        Heading("held_most_sessions", "sessions", "Most sessions held at once")
            .number(0, |of| of.rescue.held_max),
        Heading("backlog_most_after_sessions", "sessions", "Greatest backlog after engaging")
            .new(|of| of.after(|after| Cell::Number(after.backlog_max, 0))),
        Heading("delay_session_hours", "session-hours", "Session-hours held at the gate")
            .number(1, |of| of.rescue.held_session_hours),
        Heading(
            "follow_up_hit_fraction_after",
            "",
            "Share of follow-ups that hit after the release",
        )
        .new(|of| of.after(|after| Cell::known(after.follow_up_hits.value(), 3))),
        Heading("lowest_tile_after", "", "Lowest follow-up hit fraction of a later tile").new(
            |of| {
                of.after(|after| {
                    let tiles = after.tiles.iter().map(|(_, share)| share.value());
                    let values: Option<Vec<f64>> = tiles.collect();
                    Cell::known(values.and_then(|v| v.into_iter().min_by(f64::total_cmp)), 3)
                })
            },
        ),
        Heading(
            "outstanding_mean_after_sessions",
            "sessions",
            "Mean outstanding after the release",
        )
        .new(|of| of.after(|after| Cell::Number(after.outstanding_mean, 1))),
        Heading(
            "burst_follow_up_hit_fraction_after",
            "",
            "Share of the BURST control's follow-ups that hit over the same span",
        )
        .new(|of| of.control(0, follow_up_hits)),
        Heading(
            "burst_outstanding_mean_after_sessions",
            "sessions",
            "Mean outstanding of the BURST control over the same span",
        )
        .new(|of| of.control(0, outstanding_mean)),
        Heading(
            "noburst_follow_up_hit_fraction_after",
            "",
            "Share of the NOBURST control's follow-ups that hit over the same span",
        )
        .new(|of| of.control(1, follow_up_hits)),
        Heading(
            "noburst_outstanding_mean_after_sessions",
            "sessions",
            "Mean outstanding of the NOBURST control over the same span",
        )
        .new(|of| of.control(1, outstanding_mean)),
        Heading("hits_back_s", "s", "When hits are back under the cap")
            .new(|of| of.capped(CappedPhase::hits_back_s, 0)),
        Heading("hits_hold_s", "s", "From when on hits stay under the cap")
            .new(|of| of.capped(|p| Some(p.last_low()?.end_s), 0)),
        Heading(
            "lowest_60s_follow_up_hit_capped",
            "",
            "Lowest follow-up hit fraction of a 60 s bin under the cap",
        )
        .new(|of| of.capped(CappedPhase::lowest_after_return, 3)),
        Heading("last_low_60s_bin_after_engage_s", "s", "From engaging to the last low 60 s bin")
            .new(|of| of.capped(|phase| Some(phase.last_low()?.start_s - of.rescue.engaged_s?), 0)),
        Heading(
            "least_300s_follow_up_hit_capped",
            "",
            "Lowest follow-up hit fraction of a 300 s bin under the cap",
        )
        .new(|of| of.capped(|phase| Some(phase.long_bins()?[0]), 3)),
        Heading(
            "most_300s_follow_up_hit_capped",
            "",
            "Highest follow-up hit fraction of a 300 s bin under the cap",
        )
        .new(|of| of.capped(|phase| Some(phase.long_bins()?[1]), 3)),
        Heading("follow_up_hit_2700_3000", "", "Follow-up hit fraction, 2700 to 3000 s")
            .new(|of| of.dip(DIP[0])),
        Heading("follow_up_hit_3000_3300", "", "Follow-up hit fraction, 3000 to 3300 s")
            .new(|of| of.dip(DIP[1])),
        Heading("outstanding_most_sessions", "sessions", "Most outstanding under the cap").new(
            |of| {
                let most = |phase: &CappedPhase| Cell::known(phase.outstanding_most, 1);
                of.capped.as_ref().map_or(Cell::Empty, most)
            },
        ),
        Heading("recovered_before_release_s", "s", "How long before the release it had recovered")
            .optional(0, |of| of.rescue.released_s.zip(of.recovered_s).map(|(end, t)| end - t)),
        Heading("pause_mean_s", "s", "Mean pause of a paused session")
            .new(|of| of.pause_over(of.rescue.sessions_paused)),
        Heading("longest_pause_s", "s", "Longest pause of a session")
            .optional(0, |of| of.rescue.pause.longest_s),
        Heading("pause_mean_all_sessions_s", "s", "Mean pause over all sessions")
            .new(|of| of.pause_over(of.run.measures.whole.sessions_arrived)),
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::judged::Measured;
    use crate::judged::verdict::verdict;
    use crate::setup::ArmSpec;
    use crate::sim::directory::{Label, to_run};
    use crate::sim::{Options, RunSpec, simulate};

    #[test]
    fn a_rescue_is_a_row_that_answers_every_column() {
        let configs = crate::configs::load(Path::new("configs")).unwrap();
        let file = &configs.registrations["r1"];
        let (cell, workload, protocol) = configs.of_cell(&file.registration.cell).unwrap();
        let rescue = ArmSpec::Rescue {
            cap: 20,
            engage_s: 1800.0,
            min_capped_s: 600.0,
            hold_s: 300.0,
            tick_s: 10.0,
        };
        let arms = [ArmSpec::NoBurst {}, ArmSpec::Burst { sessions: None }, rescue];
        let run = |arm: &ArmSpec| -> Measured {
            let (multiple, options) = (Some(1.35), Options::default());
            let spec = RunSpec { cell, workload, protocol, arm, multiple, seed: 0, options };
            let label = Label { run_id: arm.arm().to_string(), registration: None };
            let run = to_run(&simulate(&spec).unwrap(), &spec, &label);
            let dir = label.run_id.clone().into();
            RunStatistics::of(crate::run::Run { dir, ..run }, &configs, None).map(Arc::new)
        };
        let measured: Vec<Measured> = arms.iter().map(run).collect();
        let table = table(&verdict(file, &measured, &configs).unwrap());
        assert_eq!(table.rows.len(), 1);
        assert!(table.rows.iter().all(|row| row.cells.len() == table.columns.len()));
        let released = table.place("released_s").map(|place| &table.rows[0].cells[place]);
        assert!(matches!(released, Some(Cell::Number(..))), "{released:?}");
    }
}
