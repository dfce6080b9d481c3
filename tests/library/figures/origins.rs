//! Where the data come from: in every row, above the panels, in title and description.

use trapcheck::figure::drawing::Drawing;
use trapcheck::figure::origin::{Origin, Source};
use trapcheck::figure::stampede::stampede;

use crate::figures::{Made, all, made_up};

/// Everything that a reader of the drawing can read.
fn words(drawing: &Drawing) -> Vec<String> {
    let printed = drawing.texts().map(|text| text.label.text());
    printed.chain([drawing.title.clone(), drawing.description.clone()]).collect()
}

#[test]
fn every_row_of_every_figure_says_what_made_it_and_which_run_unless_a_model_did() {
    for Made { name, figure, .. } in all() {
        let csv = figure.data.to_csv();
        let mut table = csv::Reader::from_reader(csv.as_bytes());
        let head = table.headers().expect("a head").clone();
        assert_eq!(head.iter().take(2).collect::<Vec<_>>(), ["run", "source"], "{name}");
        for row in table.records() {
            let row = row.expect("a row");
            assert!(!row[1].is_empty(), "{name}: {row:?}");
            assert!(&row[1] == "model" || !row[0].is_empty(), "{name}: {row:?}");
        }
    }
}

#[test]
fn the_heading_is_in_the_drawing_the_title_and_the_description() {
    for Made { name, figure, .. } in all() {
        let (origin, drawing) = (&figure.origin, &figure.drawing);
        let heading = origin.heading();
        assert!(drawing.texts().any(|text| text.label.text() == heading), "{name}: {heading}");
        let made = origin.runs_words().unwrap_or_else(|| heading.clone());
        assert!(drawing.title.ends_with(&format!(" ({made})")), "{name}: {}", drawing.title);
        assert!(drawing.description.contains(&heading), "{name}: {}", drawing.description);
    }
}

#[test]
fn nothing_that_was_simulated_is_called_measured() {
    let simulated =
        all().iter().filter(|made| made.figure.origin.runs_words().as_deref() == Some("simulated"));
    let mut seen = 0;
    for Made { name, figure, .. } in simulated {
        let csv = figure.data.to_csv();
        for words in words(&figure.drawing).iter().chain([&csv]) {
            assert!(!words.to_lowercase().contains("measured"), "{name}: {words}");
        }
        seen += 1;
    }
    assert!(seen >= 8, "{seen}");
}

#[test]
fn the_same_drawing_of_an_engine_says_engine() {
    let mut input = made_up::stampedes::one_rate();
    let engine = Source::Engine("vLLM 0.32.0, CPU".to_owned());
    for run in input.columns.iter_mut().flat_map(|column| &mut column.runs) {
        run.origin = Origin::run("run", "tiny", engine.clone());
    }
    let figure = stampede(&input);
    assert!(words(&figure.drawing).contains(&"vLLM 0.32.0, CPU: tiny".to_owned()));
    assert!(!words(&figure.drawing).iter().any(|words| words.contains("simulated")));
    assert!(figure.data.to_csv().contains("\nrun,\"vLLM 0.32.0, CPU\","));
}
