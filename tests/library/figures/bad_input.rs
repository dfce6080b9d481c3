//! Figures of too little: what there is, is drawn, and what is missing is said in the figure.

use trapcheck::figure::closed_curve::{ClosedCell, ClosedCurves, closed_curves};
use trapcheck::figure::drawing::{Drawing, Item};
use trapcheck::figure::from_empty::{FromEmpty, from_empty};
use trapcheck::figure::mirror::{Mirror, mirror};
use trapcheck::figure::predicted_curve::{PredictedCurves, predicted_curves};
use trapcheck::figure::rescue::{Rescue, rescue};
use trapcheck::figure::run_picture::{RunPicture, run_picture};
use trapcheck::figure::stampede::{Stampede, StampedeRun, stampede};
use trapcheck::figure::theorem::{TheoremCheck, theorem};
use trapcheck::figure::tilted_mix::{TiltedMix, tilted_mix};
use trapcheck::figure::time_scales::{TimeScales, time_scales};
use trapcheck::figure::two_engines::two_engines;
use trapcheck::rendering;
use trapcheck::setup::Arm;

use crate::figures::made_up::{self, curves, rescues, single_runs, theories};

fn says(drawing: &Drawing, text: &str) -> bool {
    drawing.texts().any(|t| t.label.text().contains(text))
}

#[test]
fn a_missing_seed_and_a_missing_arm_are_named_in_the_figure() {
    let mut input = made_up::stampedes::two_rates();
    input.columns[0].runs.retain(|r| !(r.arm == Arm::Capped && r.seed == 1));
    input.columns[1].runs.retain(|r| r.arm != Arm::NoBurst);
    let figure = stampede(&input);
    assert!(says(&figure.drawing, "CAPPED seed 1 at 1.35"));
    assert!(says(&figure.drawing, "NOBURST runs at 1.65"));
    assert!(figure.drawing.faults().is_empty());
    assert!(!says(&stampede(&made_up::stampedes::two_rates()).drawing, "Missing"));
}

#[test]
fn runs_without_a_session_are_said_to_be_empty_and_not_drawn_at_one() {
    let figure = stampede(&single_run(vec![(0.0, 0.0), (9.0, 0.0)]));
    assert!(says(&figure.drawing, "all values are 0"));
    assert!(figure.drawing.faults().is_empty());
}

#[test]
fn an_empty_column_draws_its_axes_and_says_that_it_has_no_data() {
    let mut input = single_run(Vec::new());
    input.columns[0].runs.clear();
    let figure = stampede(&input);
    assert!(says(&figure.drawing, "no data"));
    assert!(says(&figure.drawing, "BURST runs"));
}

#[test]
fn the_plotted_data_keep_unknown_fractions_empty() {
    let csv = stampede(&single_run(vec![(0.0, 3.0)])).data.to_csv();
    let expected = "run,source,column,quantity,arm,seed,t [s],value\n\
                    BURST 7,simulated,one rate,hit_fraction,BURST,7,50.000,0.250000\n\
                    BURST 7,simulated,one rate,hit_fraction,BURST,7,150.000,\n\
                    BURST 7,simulated,one rate,sessions_in_system,BURST,7,0.000,3.000000\n";
    assert_eq!(csv, expected);
}

#[test]
fn figures_of_nothing_are_drawn_and_say_so() {
    for (name, drawing) in figures_of_nothing() {
        rendering::render(&drawing).expect("a figure of nothing renders");
        assert!(says(&drawing, "Missing") || says(&drawing, "no data"), "{name} hides it");
        assert_eq!(drawing.faults(), Vec::<String>::new(), "{name}");
    }
}

fn figures_of_nothing() -> Vec<(&'static str, Drawing)> {
    let run = RunPicture {
        hits: Vec::new(),
        follow_up_hits: Vec::new(),
        backlog: Vec::new(),
        token_rate_ratio: Vec::new(),
        gap_s: Vec::new(),
        turnover_s: Vec::new(),
        gate: Vec::new(),
        ..single_runs::rescued_run()
    };
    let cell = ClosedCell {
        series: Vec::new(),
        lambda_ref_per_s: None,
        cap: None,
        ..curves::closed_cells().cells[0].clone()
    };
    let mut rescued = rescues::three_cells();
    rescued.columns.iter_mut().for_each(|column| column.runs.clear());
    let mut engines = single_runs::both_engines();
    engines.alone.in_system.clear();
    engines.alone.follow_up_hits.clear();
    let mut empty = curves::from_empty_cells();
    empty.cells.iter_mut().for_each(|cell| {
        cell.engine.clear();
        cell.simulators.clear();
        cell.lambda_miss_per_s = None;
    });
    let mut predicted = curves::predicted_cells();
    predicted.cells.iter_mut().for_each(|cell| {
        cell.fluid.clear();
        cell.h1.clear();
        cell.runs.clear();
    });
    let mix = TiltedMix {
        trapped: Vec::new(),
        stationary: Vec::new(),
        curves: Vec::new(),
        ..theories::mix_at_one_load()
    };
    let check = TheoremCheck { cells: Vec::new(), runs: Vec::new(), ..theories::theorem_check() };
    let nothing: Vec<(&str, trapcheck::figure::Figure)> = vec![
        ("run picture", run_picture(&run)),
        ("closed", closed_curves(&ClosedCurves { cells: vec![cell], ..curves::closed_cells() })),
        ("rescue", rescue(&Rescue { columns: rescued.columns, ..rescues::three_cells() })),
        ("two engines", two_engines(&engines)),
        ("from empty", from_empty(&FromEmpty { cells: empty.cells, ..curves::from_empty_cells() })),
        (
            "predicted",
            predicted_curves(&PredictedCurves {
                cells: predicted.cells,
                ..curves::predicted_cells()
            }),
        ),
        ("mix", tilted_mix(&mix)),
        ("theorem", theorem(&check)),
        ("mirror", mirror(&Mirror { series: Vec::new(), ..theories::mirror_runs() })),
        (
            "time scales",
            time_scales(&TimeScales { measured: Vec::new(), ..theories::measured_time_scales() }),
        ),
        (
            "stampede",
            stampede(&Stampede { columns: Vec::new(), ..made_up::stampedes::two_rates() }),
        ),
    ];
    nothing.into_iter().map(|(name, figure)| (name, figure.drawing)).collect()
}

#[test]
fn a_run_of_one_point_is_drawn_as_a_dot() {
    let mut input = single_run(vec![(10.0, 5.0)]);
    input.columns[0].runs[0].hit_bins = vec![(50.0, Some(0.5))];
    let items = stampede(&input).drawing.items;
    assert_eq!(items.iter().filter(|item| matches!(item, Item::Disc { .. })).count(), 2);
}

#[test]
fn names_with_markup_and_foreign_letters_are_shown_as_they_are() {
    let mut input = single_runs::rescued_run();
    input.run = "cell_a^{2} * <b> & 模型".to_owned();
    let figure = run_picture(&input);
    assert!(says(&figure.drawing, "cell_a^{2} * <b> & ??"));
    let svg = rendering::render(&figure.drawing).expect("it renders").svg;
    assert!(svg.contains("<title>Run cell_a^{2} * &lt;b&gt; &amp; 模型 (simulated)</title>"));
}

fn single_run(backlog: Vec<(f64, f64)>) -> Stampede {
    let mut input = made_up::stampedes::two_rates();
    input.columns.truncate(1);
    let hit_bins = vec![(50.0, Some(0.25)), (150.0, None)];
    input.columns[0].title = "one rate".to_owned();
    let origin = made_up::simulated("BURST 7");
    input.columns[0].runs =
        vec![StampedeRun { arm: Arm::Burst, seed: 7, origin, hit_bins, backlog }];
    input
}
