//! The published fills from the published inputs (`paper/published/cells.yaml`).
//!
//! What the publication does not print cannot be reproduced, and the fill says so: the
//! H200 600k and Llama cells have no printed curve or all-miss rate, so their rates come
//! out and their caps do not.

use std::path::Path;

use serde_yaml::Value;

use super::*;
use crate::rule::registration::inputs::{CacheOff, CurvePoint, EdgeBracket};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn protocol() -> Protocol {
    let path = root().join("configs/protocols/paper.yaml");
    Protocol::parse(&path, &std::fs::read(&path).unwrap()).unwrap()
}

/// A cell of the publication.
fn published(cell: &str) -> Value {
    let text = std::fs::read_to_string(root().join("paper/published/cells.yaml")).unwrap();
    let all: Value = serde_yaml::from_str(&text).unwrap();
    all["cells"][cell].clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_sequence().map(|s| s.iter().filter_map(Value::as_f64).collect()).unwrap_or_default()
}

/// The inputs as the publication prints them.
fn inputs(cell: &str) -> FillInputs {
    let page = published(cell);
    let runs = page["e0a"]["runs"].as_sequence().cloned().unwrap_or_default();
    let cache_off = runs
        .iter()
        .filter(|run| run["population"].as_u64() == Some(32))
        .map(|run| CacheOff {
            turns_based_per_s: run["turns_based"].as_f64().unwrap(),
            tokens_per_s: run["uncached_tokens_s"].as_f64().unwrap(),
        })
        .collect();
    let points = page["closed_curve"]["points"].as_sequence().cloned().unwrap_or_default();
    // Where only turns-based values are printed there is no curve in completed sessions.
    let curve: Vec<CurvePoint> = points
        .iter()
        .filter(|p| p.get("mu").is_some())
        .map(|p| CurvePoint { n: p["n"].as_u64().unwrap(), mu_per_s: p["mu"].as_f64() })
        .collect();
    let curve = if curve.iter().any(|p| p.mu_per_s.is_some()) { curve } else { Vec::new() };
    let ratio = &page["peak_ratio"];
    let edge = numbers(&page["e0b"]["edge_nominal"]);
    FillInputs {
        cell: cell.into(),
        hardware: None,
        lambda_ref_per_s: page["lambda_ref"]["value"].as_f64(),
        all_miss_tokens_per_s: page["all_miss_token_rate"]["value"].as_f64(),
        cache_off,
        curve,
        peak_ratio: ratio["completed"].as_f64().or(ratio["turns_based"].as_f64()),
        edge: EdgeBracket {
            largest_stable: Some(edge[0]),
            first_unstable: Some(edge[1]),
            monotone: true,
        },
        seeds: vec![0, 1, 2],
        restates_sha256: Vec::new(),
        sources: Default::default(),
    }
}

fn filled(inputs: &FillInputs) -> Registration {
    let mark = FillAs { name: "filled".into(), exploratory: None };
    fill(inputs, &protocol(), &FillThresholds::default(), mark).unwrap()
}

fn of(registration: &Registration) -> &Filled {
    registration.filled.as_ref().unwrap()
}

/// Window, rates, cap and thresholds against what is printed for the cell.
fn assert_as_published(cell: &str) {
    let (page, registration) = (published(cell), filled(&inputs(cell)));
    let fill = of(&registration);
    assert_eq!(registration.status, Status::Filled, "{cell}: {:?}", registration.because);
    assert_eq!(vec![fill.window.0, fill.window.1], numbers(&page["window"]["multiples"]));
    assert_eq!(registration.rates, numbers(&page["registered_rates"]["multiples"]));
    assert_eq!(registration.cap, page["n_cap"].as_u64());
    assert_eq!(fill.peak.unwrap().sessions, page["n_star"].as_u64().unwrap());
    assert_eq!(Some(fill.peak.unwrap().mu_per_s), page["mu_star"].as_f64());
    assert_eq!(Some(fill.cap_ambiguous), page["cap_ambiguous"].as_bool());
    for (rate, threshold) in registration.rates.iter().zip(&fill.slope_thresholds_per_s) {
        let printed = &page["slope_thresholds_per_s"];
        let printed = printed[format!("{rate}").as_str()]
            .as_f64()
            .or(printed[format!("{rate:.1}").as_str()].as_f64())
            .unwrap();
        // Native prints 0.0538 for 0.05385; the others round to the last digit.
        assert!((threshold - printed).abs() <= 0.000_051, "{cell} at {rate}: {threshold}");
    }
}

#[test]
fn sglang_300k_is_filled_as_published() {
    assert_as_published("sglang-300k");
    let registration = filled(&inputs("sglang-300k"));
    let fill = of(&registration);
    assert_eq!(fill.upper_edge, UpperEdge::FromEmpty);
    assert!((fill.margin_band.0 - 1.1).abs() < 1e-12 && (fill.margin_band.1 - 1.8).abs() < 1e-12);
    let drains: Vec<f64> = fill.drains.iter().map(|d| d.predicted_s.unwrap().round()).collect();
    assert_eq!(drains, [1571.0, 1889.0]);
    assert_eq!(format!("{:.2}", fill.drain_fits_up_to.unwrap()), "2.64");
    assert!(fill.warnings[0].starts_with("|mu(300)/lambda_miss - 1| = 0.507"));
    assert_eq!((fill.kill_conditions.len(), fill.predictions.len()), (4, 3));
}

#[test]
fn sglang_native_is_filled_as_published_and_says_which_populations_are_not_printed() {
    assert_as_published("sglang-native");
    let registration = filled(&inputs("sglang-native"));
    assert!(
        of(&registration).warnings.iter().any(|w| w.starts_with("mu(24), mu(48) is not known"))
    );
}

#[test]
fn vllm_300k_is_filled_as_published() {
    assert_as_published("vllm-300k");
    let registration = filled(&inputs("vllm-300k"));
    let fill = of(&registration);
    let drains: Vec<f64> = fill.drains.iter().map(|d| d.predicted_s.unwrap().round()).collect();
    // Printed 1529 and 1800, from a rate of 0.06566 that is itself rounded.
    assert!((drains[0] - 1529.0).abs() <= 1.0 && (drains[1] - 1800.0).abs() <= 1.0, "{drains:?}");
    assert_eq!(format!("{:.2}", fill.drain_fits_up_to.unwrap()), "2.81");
    assert!(fill.warnings[0].starts_with("|mu(300)/lambda_miss - 1| = 0.599"));
}

#[test]
fn a_cell_without_a_printed_curve_gets_its_rates_and_no_cap() {
    for (cell, upper) in [("h200-600k", 2.5), ("llama-300k", 2.0)] {
        let registration = filled(&inputs(cell));
        let fill = of(&registration);
        assert_eq!(fill.window, (1.0, upper), "{cell}");
        assert_eq!(
            fill.rates_by_formula,
            numbers(&published(cell)["registered_rates"]["multiples"]),
            "{cell}"
        );
        assert_eq!((registration.cap, registration.status), (None, Status::Incomplete), "{cell}");
        assert!(registration.because.unwrap().contains("no closed curve is given"), "{cell}");
    }
}

#[test]
fn h200_300k_comes_out_incomplete_because_its_rates_fall_outside_the_band() {
    let registration = filled(&inputs("h200-300k"));
    let fill = of(&registration);
    assert_eq!(fill.rates_by_formula, [1.1, 1.2]);
    assert_eq!(fill.margin_band, (1.1, 1.17));
    assert_eq!((registration.status, registration.rates.len()), (Status::Incomplete, 0));
    let because = registration.because.unwrap();
    assert!(
        because.contains("1.10 lambda_ref lies outside the margin band (1.10, 1.17)"),
        "{because}"
    );
    assert!(because.contains("1.20 lambda_ref lies outside"), "{because}");
}

#[test]
fn the_references_are_the_means_of_the_cache_off_runs() {
    for (cell, digits) in [("sglang-300k", 4), ("vllm-300k", 4)] {
        let given = inputs(cell);
        let measured =
            FillInputs { lambda_ref_per_s: None, all_miss_tokens_per_s: None, ..given.clone() };
        let registration = filled(&measured);
        let round = |x: f64| format!("{x:.digits$}");
        assert_eq!(round(registration.lambda_ref_per_s), round(given.lambda_ref_per_s.unwrap()));
        assert_eq!(registration.all_miss_tokens_per_s.map(f64::round), given.all_miss_tokens_per_s);
    }
}

#[test]
fn a_fill_marked_exploratory_stays_so_and_an_incomplete_one_is_incomplete_first() {
    let mark = || FillAs { name: "grid".into(), exploratory: Some("derived".into()) };
    let with =
        |cell| fill(&inputs(cell), &protocol(), &FillThresholds::default(), mark()).unwrap().status;
    assert_eq!(with("sglang-300k"), Status::Exploratory);
    assert_eq!(with("h200-300k"), Status::Incomplete);
}

#[test]
fn without_references_or_bounds_there_is_no_fill() {
    let mark = || FillAs { name: "x".into(), exploratory: None };
    let none =
        FillInputs { lambda_ref_per_s: None, cache_off: Vec::new(), ..inputs("sglang-300k") };
    let found = fill(&none, &protocol(), &FillThresholds::default(), mark());
    assert_eq!(found.unwrap_err(), FillError::NoReference);
    let mut open = inputs("sglang-300k");
    (open.curve, open.peak_ratio, open.edge.largest_stable) = (Vec::new(), None, None);
    let found = fill(&open, &protocol(), &FillThresholds::default(), mark());
    assert_eq!(found.unwrap_err(), FillError::NoWindow);
}

#[test]
fn what_is_written_reads_back_the_same() {
    let registration = filled(&inputs("sglang-300k"));
    let text = serde_yaml::to_string(&registration).unwrap();
    let read: Registration = crate::setup::yaml::parse(Path::new("x.yaml"), &text).unwrap();
    assert_eq!(read, registration);
    assert_eq!(read.check(), Ok(()));
}

#[test]
fn a_drain_that_does_not_fit_is_a_warning() {
    let mut slow = inputs("sglang-300k");
    for point in &mut slow.curve {
        point.mu_per_s = point.mu_per_s.map(|mu| mu * 0.6);
    }
    let registration = filled(&slow);
    assert!(of(&registration).drains.iter().any(|d| !d.fits));
    assert!(of(&registration).warnings.iter().any(|w| w.contains("drain does not fit")));
}
