//! Figures: the same bytes in every process, no text over another, and what is missing is said.

mod bad_input;
mod goldens;
mod made_up;
mod origins;

use std::process::Command;
use std::sync::LazyLock;

use trapcheck::figure::{Figure, font};
use trapcheck::rendering::{self, Rendered};

/// A made-up figure and its files.
struct Made {
    name: &'static str,
    figure: Figure,
    files: Rendered,
}

/// Every made-up figure, rendered once for all tests of this process.
fn all() -> &'static [Made] {
    static ALL: LazyLock<Vec<Made>> = LazyLock::new(|| {
        let make = |(name, figure): (&'static str, Figure)| {
            let files = rendering::render(&figure.drawing).expect("a made-up figure renders");
            Made { name, figure, files }
        };
        made_up::figures().into_iter().map(make).collect()
    });
    &ALL
}

/// FNV-1a, to compare bytes between processes by one printed line.
fn digest(rendered: &Rendered) -> String {
    let parts = [rendered.svg.as_bytes(), &rendered.pdf, &rendered.png];
    parts.map(|bytes| format!("{:016x}", fnv(bytes))).join(" ")
}

fn fnv(bytes: &[u8]) -> u64 {
    let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn all_digests() -> String {
    let lines = all().iter().map(|made| format!("digest {} {}", made.name, digest(&made.files)));
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
    for Made { name, figure, files } in all() {
        let csv = figure.data.to_csv();
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
        child.args(["--exact", "figures::print_the_digests", "--ignored", "--nocapture"]);
        let output = child.output().expect("the test runs again");
        let printed = String::from_utf8_lossy(&output.stdout);
        let there: Vec<_> = printed.lines().filter(|l| l.starts_with("digest ")).collect();
        assert_eq!(there.join("\n"), here);
    }
}

#[test]
fn no_text_is_cut_off_or_lies_over_another() {
    for Made { name, figure, .. } in all() {
        assert_eq!(figure.drawing.faults(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn every_figure_fits_one_or_two_columns_and_a_page() {
    for Made { name, figure, .. } in all() {
        let inches = figure.drawing.width_pt / 72.0;
        assert!((inches - 3.3).abs() < 1e-9 || (inches - 7.0).abs() < 1e-9, "{name}: {inches} in");
        assert!(figure.drawing.height_pt / 72.0 < 9.0, "{name}");
    }
}

#[test]
fn the_svg_needs_no_font_and_has_a_title_and_a_description() {
    for Made { name, files, .. } in all() {
        let svg = &files.svg;
        assert!(!svg.contains("<text") && !svg.contains("font-family"), "{name}");
        assert!(svg.contains("<title>") && svg.contains("<desc>"), "{name}");
        assert!(svg.contains("in\" viewBox="), "{name}");
    }
}

#[test]
fn the_pdf_embeds_the_font_and_has_no_date() {
    for Made { name, files, .. } in all() {
        let pdf = &files.pdf;
        let has = |needle: &[u8]| pdf.windows(needle.len()).any(|w| w == needle);
        assert!(has(b"SourceSans3-Regular"), "{name} lacks the font {}", font::FAMILY);
        assert!(has(b"/ToUnicode"), "{name}: text that cannot be selected");
        assert!(!has(b"CreationDate") && !has(b"CreateDate"), "{name}");
    }
}

#[test]
fn the_png_has_300_dots_per_inch_of_the_drawing() {
    for Made { name, figure, files } in all() {
        let png = &files.png;
        let width = u32::from_be_bytes([png[16], png[17], png[18], png[19]]);
        assert_eq!(f64::from(width), (figure.drawing.width_pt / 72.0 * 300.0).round(), "{name}");
        assert!(png.windows(4).any(|w| w == b"pHYs"), "{name}");
    }
}
