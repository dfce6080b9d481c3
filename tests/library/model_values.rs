//! Published model values against ours, by what each rests on.

use std::path::Path;
use std::sync::LazyLock;

use trapcheck::table::model_values::{
    self, AnsweredValue, Asks, Printed, compare, parse, quantities, solve,
};

static ROWS: LazyLock<Vec<AnsweredValue>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |name: &str| std::fs::read_to_string(root.join("paper/published").join(name)).unwrap();
    let printed = Printed::parse(&read("cells.yaml"), &read("tables.yaml")).unwrap();
    let configs = trapcheck::configs::load(&root.join("configs")).unwrap();
    compare(&parse(&read("model_values.json")).unwrap(), &solve(&configs).unwrap(), &printed)
});

/// Rows that do not come out to the printed digit, with the relative gap each stays within.
/// What each rests on is said in `basis`; none is a *text* row.
const MISSES: &[(&str, f64)] = &[
    // One unit in the last digit: a slope of 0.02148 printed as .022, and two values of the
    // Llama cell, whose speed is fitted to these rows.
    ("C028", 0.024),
    ("C042", 1e-4),
    ("C050", 0.004),
    // Corollary 3's table and SHED: the printed digits carry a time step.
    ("F001", 0.003),
    ("F004", 0.003),
    ("F006", 0.003),
    ("F007", 0.003),
    ("F010", 0.003),
    ("F013", 0.003),
    ("F016", 0.003),
    ("F017", 0.003),
    ("F018", 0.003),
    // 0.1251 where "4-12%" is printed.
    ("F032", 0.043),
    // H3 has one fitted constant; its 50% point is 49.3 in a printed range from 48.4.
    ("H028", 0.02),
    // RR and H4 are approximations of layers that the text only sketches.
    ("H029", 0.01),
    ("H030", 0.01),
    ("H031", 0.01),
    ("H032", 0.01),
    ("H033", 0.01),
    ("H034", 0.01),
    ("H035", 0.06),
    ("H036", 0.003),
    ("H037", 0.06),
    ("H038", 0.003),
    ("H039", 0.065),
    ("H040", 0.065),
    ("H041", 0.065),
    ("H042", 0.06),
    ("H043", 0.003),
    ("H044", 0.06),
    ("H045", 0.003),
];

fn describe(row: &AnsweredValue) -> String {
    let p = &row.published;
    format!("{} {} {}: {} against {:?}", p.id, p.quantity, p.cell, p.published, row.ours)
}

#[test]
fn every_value_that_rests_on_the_text_alone_matches_to_the_printed_digit() {
    let text: Vec<_> = ROWS.iter().filter(|row| row.published.basis == "text").collect();
    assert_eq!(text.len(), 188);
    for row in text {
        assert_eq!(row.matches(), Some(true), "{}", describe(row));
    }
}

#[test]
fn every_computable_value_is_computed_and_the_others_say_why_not() {
    assert_eq!(ROWS.len(), 384);
    for row in ROWS.iter() {
        assert_eq!(row.ours.is_ok(), row.published.computable(), "{}", describe(row));
    }
    assert_eq!(ROWS.iter().filter(|row| row.ours.is_err()).count(), 52);
}

#[test]
fn the_values_that_miss_are_the_known_ones_with_their_gaps() {
    for row in ROWS.iter().filter(|row| row.published.computable()) {
        let known = MISSES.iter().find(|(id, _)| *id == row.published.id);
        assert_eq!(row.matches(), Some(known.is_none()), "{}", describe(row));
        if let Some((_, most)) = known {
            let gap = row.relative_gap().unwrap().abs();
            assert!(gap <= *most, "{}: gap {gap}", describe(row));
        }
    }
}

#[test]
fn no_text_row_is_among_the_misses() {
    for (id, _) in MISSES {
        let row = ROWS.iter().find(|row| row.published.id == *id).unwrap();
        assert_ne!(row.published.basis, "text", "{id}");
    }
}

#[test]
fn every_quantity_has_its_own_name_and_a_published_value_asks_for_it() {
    let asked = |name: &str| {
        ROWS.iter().any(|row| match &row.published.asks {
            Asks::For(ask) => ask.quantity.name == name,
            Asks::Undetermined(_) => false,
        })
    };
    let names: Vec<&str> = quantities().map(|quantity| quantity.name).collect();
    for (i, name) in names.iter().enumerate() {
        assert!(asked(name), "{name}");
        assert!(!names[..i].contains(name), "{name} is there twice");
    }
}

#[test]
fn rows_of_the_same_words_are_told_apart_by_their_loads() {
    let ours = |id: &str| ROWS.iter().find(|row| row.published.id == id).unwrap().ours.clone();
    // App. E.11: the drains at 1.35 and 1.65 lambda_ref, in the same words.
    assert!(ours("B040").unwrap() < ours("B041").unwrap());
}

#[test]
fn an_answer_depends_neither_on_the_published_number_nor_on_a_word_of_its_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |name: &str| std::fs::read_to_string(root.join("paper/published").join(name)).unwrap();
    let printed = Printed::parse(&read("cells.yaml"), &read("tables.yaml")).unwrap();
    let configs = trapcheck::configs::load(&root.join("configs")).unwrap();
    let mut altered = parse(&read("model_values.json")).unwrap();
    for row in &mut altered {
        row.published = 1e9;
        row.id = "?".into();
        row.quantity = "?".into();
        row.cell = "?".into();
    }
    let altered = compare(&altered, &solve(&configs).unwrap(), &printed);
    for (a, b) in ROWS.iter().zip(&altered) {
        assert_eq!(a.ours, b.ours, "{}", describe(a));
    }
}

#[test]
fn the_table_lists_every_row_with_the_printed_digits() {
    let table = model_values::table(&ROWS);
    let csv = table.to_csv();
    assert_eq!(csv.lines().count(), 385);
    let line =
        |id: &str| csv.lines().find(|l| l.starts_with(&format!("{id},"))).unwrap().to_owned();
    assert_eq!(line("C006"), "C006,Table 3,rho,A100_300k 1.65,1.64,1.643,2,yes,0.182,text,");
    assert!(line("X001").contains("unknown"));
    assert!(line("F027").contains("4.00e-23,3.58e-23,23,yes"));
}

#[test]
fn the_models_gap_is_taken_over_the_window_of_the_cells_own_protocol() {
    let configs =
        trapcheck::configs::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("configs")).unwrap();
    let theory = &solve(&configs).unwrap()["vllm-cpu-tiny-30k"];
    let ours = model_values::gap_over_turnover(theory, theory.rate_per_s(1.5)).unwrap();
    // Its runs of 540 s measured 4.36, 5.25 and 5.78; at the paper's 5700 s it were 32.8.
    assert!((4.36..5.78).contains(&ours), "{ours}");
}
