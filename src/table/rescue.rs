//! The rescue runs one by one, with their controls over the same interval after the
//! release (Tables 8 and 9), from a rescue test's verdict.

use crate::judged::statistics::extra::Extra;
use crate::judged::verdict::{Verdict, VerdictRun};

use crate::measure::capped::CappedPhase;
use crate::measure::rescue::RescueMeasures;
use crate::measure::stretches::Stretches;
use crate::setup::Span;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("registration", ""),
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("label", ""),
    Column::new("cap_sessions", "sessions"),
    Column::new("engaged_s", "s"),
    Column::new("outstanding_at_engage_sessions", "sessions"),
    Column::new("released", ""),
    Column::new("released_s", "s"),
    Column::new("sessions_paused", "sessions"),
    Column::new("held_most_sessions", "sessions"),
    Column::new("backlog_most_after_sessions", "sessions"),
    Column::new("delay_session_hours", "session-hours"),
    Column::new("follow_up_hit_fraction_after", ""),
    Column::new("lowest_tile_after", ""),
    Column::new("outstanding_mean_after_sessions", "sessions"),
    Column::new("burst_follow_up_hit_fraction_after", ""),
    Column::new("burst_outstanding_mean_after_sessions", "sessions"),
    Column::new("noburst_follow_up_hit_fraction_after", ""),
    Column::new("noburst_outstanding_mean_after_sessions", "sessions"),
    Column::new("hits_back_s", "s"),
    Column::new("hits_hold_s", "s"),
    Column::new("lowest_60s_follow_up_hit_capped", ""),
    Column::new("last_low_60s_bin_after_engage_s", "s"),
    Column::new("least_300s_follow_up_hit_capped", ""),
    Column::new("most_300s_follow_up_hit_capped", ""),
    Column::new("follow_up_hit_2700_3000", ""),
    Column::new("follow_up_hit_3000_3300", ""),
    Column::new("outstanding_most_sessions", "sessions"),
    Column::new("recovered_before_release_s", "s"),
    Column::new("pause_mean_s", "s"),
    Column::new("longest_pause_s", "s"),
    Column::new("pause_mean_all_sessions_s", "s"),
];

/// The 300 s bins in which R4 dipped, and the one before (App. E.7).
const DIP: [Span; 2] = [Span::new(2700.0, 3000.0), Span::new(3000.0, 3300.0)];

/// The table; empty for a verdict on another kind of test.
pub fn table(verdict: &Verdict) -> Table {
    let name = &verdict.registration.registration.name;
    Table {
        name: "rescue".into(),
        title: format!("Rescue runs of registration {name}"),
        columns: COLUMNS.to_vec(),
        rows: verdict
            .runs
            .iter()
            .filter(|r| r.role == "subject")
            .filter_map(|run| row(run, name))
            .collect(),
    }
}

fn row(run: &VerdictRun, registration: &str) -> Option<Row> {
    let Extra::Rescue { rescue: Some(rescue), recovered_s, .. } = &run.extra else { return None };
    let after = rescue.after.as_ref();
    let lowest = after.and_then(|a| {
        let values: Option<Vec<f64>> = a.tiles.iter().map(|(_, share)| share.value()).collect();
        values?.into_iter().min_by(f64::total_cmp)
    });
    let key = run.dir.display().to_string();
    let mut cells = vec![
        Cell::text(registration),
        Cell::text(&key),
        Cell::text(run.meta.source.word()),
        Cell::optional(run.meta.rate.multiple, 2),
        Cell::Count(run.meta.seed),
        run.labelled.as_ref().map_or(Cell::Empty, |l| Cell::text(l.label)),
        rescue.cap.map_or(Cell::Unknown, Cell::Count),
        Cell::known(rescue.engaged_s, 3),
        Cell::Number(rescue.outstanding_on, 0),
        Cell::yes_no(Some(rescue.released_s.is_some())),
        Cell::optional(rescue.released_s, 0),
        Cell::Count(rescue.sessions_paused),
        Cell::Number(rescue.held_max, 0),
        Cell::optional(after.map(|a| a.backlog_max), 0),
        Cell::Number(rescue.held_session_hours, 1),
        after.map_or(Cell::Empty, |a| Cell::known(a.follow_up_hits.value(), 3)),
        after.map_or(Cell::Empty, |_| Cell::known(lowest, 3)),
        Cell::optional(after.map(|a| a.outstanding_mean), 1),
    ];
    for control in &run.controls_after {
        cells.push(match control {
            Some(control) => Cell::known(control.follow_up_hits.value(), 3),
            None => Cell::Empty,
        });
        cells.push(Cell::optional(control.map(|c| c.outstanding_mean), 1));
    }
    cells.extend(capped(run, rescue));
    cells.push(Cell::optional(rescue.released_s.zip(*recovered_s).map(|(end, t)| end - t), 0));
    cells.extend(pauses(run, rescue));
    let key = format!("{registration}/{key}");
    Some(Row { key, cells, sources: run.sources.clone() })
}

/// Its follow-ups and its backlog while the cap was on.
fn capped(run: &VerdictRun, rescue: &RescueMeasures) -> Vec<Cell> {
    let Some(engaged_s) = rescue.engaged_s else { return vec![Cell::Empty; 9] };
    let series = &run.measures.series;
    let until_s = rescue.released_s.unwrap_or(run.meta.duration_s);
    let phase = CappedPhase::of(series, Span::new(engaged_s, until_s));
    let known = |value: Option<f64>, digits| {
        if phase.is_known() { Cell::optional(value, digits) } else { Cell::Unknown }
    };
    let long = phase.long_bins();
    let bins = Stretches::of(&series.follow_up_hits);
    let [before, dip] = DIP.map(|span| Cell::known(bins.within(span).total().value(), 3));
    vec![
        known(phase.hits_back_s(), 0),
        known(phase.last_low().map(|bin| bin.end_s), 0),
        known(phase.lowest_after_return(), 3),
        known(phase.last_low().map(|bin| bin.start_s - engaged_s), 0),
        known(long.map(|l| l[0]), 3),
        known(long.map(|l| l[1]), 3),
        before,
        dip,
        Cell::known(phase.outstanding_most, 1),
    ]
}

/// How long sessions were paused: a session that was, the longest, and over all.
fn pauses(run: &VerdictRun, rescue: &RescueMeasures) -> [Cell; 3] {
    let over = |sessions: u64| {
        Cell::optional((sessions > 0).then(|| rescue.pause.total_s / sessions as f64), 1)
    };
    [
        over(rescue.sessions_paused),
        Cell::optional(rescue.pause.longest_s, 0),
        over(run.measures.whole.sessions_arrived),
    ]
}
