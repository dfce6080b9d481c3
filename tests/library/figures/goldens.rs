//! Goldens: the plotted data exactly, the drawing as the eye sees it.
//!
//! A picture is averaged over blocks of 4 by 4 dots and compared with its golden, each block with
//! the nearest of its neighbours, so that a change of anti-aliasing passes and a moved axis does
//! not; both are tested. `cargo test --test library write_the_goldens -- --ignored` writes them.

use std::path::PathBuf;

use resvg::tiny_skia::{Color, IntSize, Pixmap, Transform};
use resvg::usvg;
use trapcheck::figure::Figure;
use trapcheck::figure::stampede::stampede;
use trapcheck::rendering;

use crate::figures::{Made, all, made_up};

const BLOCK: u32 = 4;
/// Difference of a block's channel, of 255, that the eye sees.
const SEEN: u8 = 40;
/// Share of blocks that may differ that much.
const SHARE: f64 = 0.0005;

fn golden(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/library/figures/golden").join(file)
}

fn rendered(figure: &Figure) -> Vec<u8> {
    rendering::render(&figure.drawing).expect("a figure renders").png
}

fn picture(png: &[u8]) -> Pixmap {
    averaged(&Pixmap::decode_png(png).expect("a picture"))
}

/// How much two pictures differ, whichever is compared with the other's neighbours.
fn apart(a: &Pixmap, b: &Pixmap) -> f64 {
    difference(a, b).max(difference(b, a))
}

/// The picture at a quarter of its size, each dot the mean of a block.
fn averaged(full: &Pixmap) -> Pixmap {
    let (width, height) = (full.width() / BLOCK, full.height() / BLOCK);
    let mean = |x: u32, y: u32, channel: usize| {
        let dots = (0..BLOCK * BLOCK).map(|i| (x * BLOCK + i % BLOCK, y * BLOCK + i / BLOCK));
        let sum: u32 = dots.map(|(x, y)| channel_of(full, x, y, channel)).map(u32::from).sum();
        (sum / (BLOCK * BLOCK)) as u8
    };
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let data = places.flat_map(|(x, y)| [0, 1, 2, 3].map(|c| mean(x, y, c))).collect();
    let size = IntSize::from_wh(width, height).expect("a size");
    Pixmap::from_vec(data, size).expect("a picture")
}

fn channel_of(picture: &Pixmap, x: u32, y: u32, channel: usize) -> u8 {
    picture.data()[4 * (y * picture.width() + x) as usize + channel]
}

/// The share of blocks that no neighbour in the other picture resembles.
fn difference(a: &Pixmap, b: &Pixmap) -> f64 {
    if (a.width(), a.height()) != (b.width(), b.height()) {
        return 1.0;
    }
    let nearest = |x: u32, y: u32| {
        let near = |at: u32, end: u32| at.saturating_sub(1)..(at + 2).min(end);
        let neighbours = near(y, b.height()).flat_map(|v| near(x, b.width()).map(move |u| (u, v)));
        let worst = |(u, v)| {
            let of = |c| channel_of(a, x, y, c).abs_diff(channel_of(b, u, v, c));
            (0..4).map(of).max().unwrap_or(0)
        };
        neighbours.map(worst).min().unwrap_or(u8::MAX)
    };
    let places = (0..a.height()).flat_map(|y| (0..a.width()).map(move |x| (x, y)));
    let seen = places.filter(|(x, y)| nearest(*x, *y) > SEEN).count();
    seen as f64 / f64::from(a.width() * a.height())
}

fn data_lines() -> String {
    let line = |Made { name, figure, .. }: &Made| {
        let csv = figure.data.to_csv();
        let head = csv.lines().next().unwrap_or("").to_owned();
        let digest = crate::figures::fnv(csv.as_bytes());
        format!("{name}: {} rows, {digest:016x}, {head}\n", figure.data.rows.len())
    };
    all().iter().map(line).collect()
}

#[test]
#[ignore = "writes the goldens anew, after a look at the figures"]
fn write_the_goldens() {
    for Made { name, files, .. } in all() {
        let png = picture(&files.png).encode_png().expect("a picture");
        std::fs::write(golden(&format!("{name}.png")), png).expect("a file");
    }
    std::fs::write(golden("data.txt"), data_lines()).expect("a file");
}

#[test]
fn the_plotted_data_are_exactly_the_golden_ones() {
    let golden = std::fs::read_to_string(golden("data.txt")).expect("the golden data");
    assert_eq!(data_lines(), golden);
}

#[test]
fn the_drawings_look_like_the_golden_ones() {
    for Made { name, files, .. } in all() {
        let bytes = std::fs::read(golden(&format!("{name}.png"))).expect("a golden picture");
        let golden = Pixmap::decode_png(&bytes).expect("a picture");
        let share = apart(&picture(&files.png), &golden);
        assert!(share <= SHARE, "{name}: {share} of the blocks differ");
    }
}

#[test]
fn the_svg_looks_like_the_png_where_there_is_no_font() {
    for Made { name, files, .. } in all() {
        let tree =
            usvg::Tree::from_str(&files.svg, &usvg::Options::default()).expect("an SVG document");
        let png = picture(&files.png);
        let mut drawn = Pixmap::new(BLOCK * png.width(), BLOCK * png.height()).expect("a size");
        drawn.fill(Color::WHITE);
        // An SVG's inch is 96 of its units.
        let scale = Transform::from_scale(300.0 / 96.0, 300.0 / 96.0);
        resvg::render(&tree, scale, &mut drawn.as_mut());
        let share = difference(&averaged(&drawn), &png);
        assert!(share <= SHARE, "{name}: {share} of the blocks differ");
    }
}

#[test]
fn a_change_of_anti_aliasing_is_not_seen() {
    let figure = stampede(&made_up::stampedes::two_rates());
    let png = rendered(&figure);
    let full = Pixmap::decode_png(&png).expect("a picture");
    // Every dot averaged with its right and lower neighbours: softer edges, half a dot away.
    let mut soft = full.clone();
    let row = 4 * full.width() as usize;
    for i in 0..full.data().len() - row - 4 {
        let near = [i, i + 4, i + row, i + row + 4].map(|k| u16::from(full.data()[k]));
        soft.data_mut()[i] = (near.iter().sum::<u16>() / 4) as u8;
    }
    let (a, b) = (averaged(&full), averaged(&soft));
    assert!(apart(&a, &b) <= SHARE);
}

#[test]
fn a_moved_axis_is_seen() {
    let whole = made_up::stampedes::two_rates();
    let mut longer = whole.clone();
    longer.columns[0].window_s.1 += 200.0;
    let [a, b] = [whole, longer].map(|input| picture(&rendered(&stampede(&input))));
    assert!(apart(&a, &b) > SHARE);
}

#[test]
fn every_point_of_every_run_is_one_row_of_the_data() {
    let input = made_up::stampedes::two_rates();
    let runs = input.columns.iter().flat_map(|column| &column.runs);
    let points: usize = runs.map(|run| run.hit_bins.len() + run.backlog.len()).sum();
    assert_eq!(stampede(&input).data.rows.len(), points);
}
