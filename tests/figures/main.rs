//! Figures: the same bytes in every process, no text over another, and what is missing is said.

mod made_up;

use std::process::Command;

use trapcheck::figure::drawing::Drawing;
use trapcheck::figure::output::{self, Rendered};
use trapcheck::figure::stampede::{Stampede, StampedeRun, stampede};
use trapcheck::figure::style::Arm;
use trapcheck::figure::{Figure, font};

fn rendered(figure: &Figure) -> Rendered {
    output::render(&figure.drawing).expect("a made-up figure renders")
}

fn says(drawing: &Drawing, text: &str) -> bool {
    drawing.texts().any(|t| t.label.text().contains(text))
}

/// FNV-1a, to compare bytes between processes by one printed line.
fn digest(rendered: &Rendered) -> String {
    let parts = [rendered.svg.as_bytes(), &rendered.pdf, &rendered.png];
    let hash = |bytes: &[u8]| {
        let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    };
    parts.map(|bytes| format!("{:016x}", hash(bytes))).join(" ")
}

fn all_digests() -> String {
    let lines = made_up::figures()
        .into_iter()
        .map(|(name, figure)| format!("digest {name} {}", digest(&rendered(&figure))));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
#[ignore = "run by the_files_are_the_same_bytes_in_every_process"]
fn print_the_digests() {
    println!("\n{}", all_digests());
}

#[test]
#[ignore = "writes every made-up figure to the build's scratch folder, to be looked at"]
fn write_the_figures() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, figure) in made_up::figures() {
        let files = rendered(&figure);
        let csv = figure.data.to_csv().expect("a table");
        let write = |ending: &str, bytes: &[u8]| {
            std::fs::write(folder.join(format!("{name}.{ending}")), bytes).expect("a file");
        };
        write("svg", files.svg.as_bytes());
        write("pdf", &files.pdf);
        write("png", &files.png);
        write("csv", csv.as_bytes());
    }
}

#[test]
fn the_files_are_the_same_bytes_in_every_process() {
    let here = all_digests();
    let this = std::env::current_exe().expect("a test is a program");
    for _ in 0..2 {
        let mut child = Command::new(&this);
        child.args(["--exact", "print_the_digests", "--ignored", "--nocapture"]);
        let output = child.output().expect("the test runs again");
        let printed = String::from_utf8_lossy(&output.stdout);
        let there: Vec<_> = printed.lines().filter(|l| l.starts_with("digest ")).collect();
        assert_eq!(there.join("\n"), here);
    }
}

#[test]
fn no_text_is_cut_off_or_lies_over_another() {
    for (name, figure) in made_up::figures() {
        assert_eq!(figure.drawing.faults(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn every_figure_fits_one_or_two_columns_and_a_page() {
    for (name, figure) in made_up::figures() {
        let inches = figure.drawing.width_pt / 72.0;
        assert!((inches - 3.3).abs() < 1e-9 || (inches - 7.0).abs() < 1e-9, "{name}: {inches} in");
        assert!(figure.drawing.height_pt / 72.0 < 9.0, "{name}");
    }
}

#[test]
fn the_svg_needs_no_font_and_has_a_title_and_a_description() {
    for (name, figure) in made_up::figures() {
        let svg = rendered(&figure).svg;
        assert!(!svg.contains("<text") && !svg.contains("font-family"), "{name}");
        assert!(svg.contains("<title>") && svg.contains("<desc>"), "{name}");
        assert!(svg.contains("in\" viewBox="), "{name}");
    }
}

#[test]
fn the_pdf_embeds_the_font_and_has_no_date() {
    for (name, figure) in made_up::figures() {
        let pdf = rendered(&figure).pdf;
        let has = |needle: &[u8]| pdf.windows(needle.len()).any(|w| w == needle);
        assert!(has(b"SourceSans3-Regular"), "{name} lacks the font {}", font::FAMILY);
        assert!(has(b"/ToUnicode"), "{name}: text that cannot be selected");
        assert!(!has(b"CreationDate") && !has(b"CreateDate"), "{name}");
    }
}

#[test]
fn the_png_has_300_dots_per_inch_of_the_drawing() {
    for (name, figure) in made_up::figures() {
        let png = rendered(&figure).png;
        let width = u32::from_be_bytes([png[16], png[17], png[18], png[19]]);
        assert_eq!(f64::from(width), (figure.drawing.width_pt / 72.0 * 300.0).round(), "{name}");
        assert!(png.windows(4).any(|w| w == b"pHYs"), "{name}");
    }
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
    let csv = stampede(&single_run(vec![(0.0, 3.0)])).data.to_csv().expect("a table");
    let expected = "column,quantity,arm,seed,t [s],value\n\
                    one rate,hit_fraction,BURST,7,50.000,0.250000\n\
                    one rate,hit_fraction,BURST,7,150.000,\n\
                    one rate,sessions_in_system,BURST,7,0.000,3.000000\n";
    assert_eq!(csv, expected);
}

fn single_run(backlog: Vec<(f64, f64)>) -> Stampede {
    let mut input = made_up::stampedes::two_rates();
    input.columns.truncate(1);
    let hit_bins = vec![(50.0, Some(0.25)), (150.0, None)];
    input.columns[0].title = "one rate".to_owned();
    input.columns[0].runs = vec![StampedeRun { arm: Arm::Burst, seed: 7, hit_bins, backlog }];
    input
}
