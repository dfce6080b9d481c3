//! Every colour, dash, width and font size of every figure.
//!
//! Hues are those of Okabe and Ito, which stay apart for colour-blind readers; each arm also
//! has its own dash, so that a grey print keeps the arms apart. Nothing here draws.

use crate::setup::Arm;

/// A colour with its opacity, both as drawn on white paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Colour {
    /// Red, green, blue, 0 to 255.
    pub rgb: (u8, u8, u8),
    /// 0 (not visible) to 1 (covers what is below).
    pub opacity: f64,
}

impl Colour {
    const fn opaque(r: u8, g: u8, b: u8) -> Self {
        Self { rgb: (r, g, b), opacity: 1.0 }
    }

    /// The opaque colour that this one has on white paper at this opacity.
    pub(crate) const fn tint(self, opacity: f64) -> Self {
        const fn mixed(channel: u8, opacity: f64) -> u8 {
            (255.0 - opacity * (255.0 - channel as f64) + 0.5) as u8
        }
        let (r, g, b) = self.rgb;
        Self::opaque(mixed(r, opacity), mixed(g, opacity), mixed(b, opacity))
    }

    /// The same hue at another opacity.
    pub const fn at(self, opacity: f64) -> Self {
        Self { rgb: self.rgb, opacity }
    }
}

/// Text, axes and whatever has no hue of its own.
pub(crate) const INK: Colour = Colour::opaque(26, 26, 26);
/// Secondary text and rules.
pub(crate) const GREY: Colour = Colour::opaque(105, 105, 105);
/// Data that stay in the background.
pub(crate) const PALE: Colour = Colour::opaque(160, 160, 160);
/// The paper.
pub const WHITE: Colour = Colour::opaque(255, 255, 255);
/// The burst arm, and the trapped state.
pub(crate) const VERMILLION: Colour = Colour::opaque(213, 94, 0);
/// The no-burst arm, and model F.
pub(crate) const BLUE: Colour = Colour::opaque(0, 114, 178);
/// The capped arm.
pub(crate) const PURPLE: Colour = Colour::opaque(140, 60, 130);
/// The rescue arm, and caps.
pub const GREEN: Colour = Colour::opaque(0, 138, 100);
/// Measured stuck runs.
pub(crate) const ORANGE: Colour = Colour::opaque(230, 159, 0);

/// The colours that a web page may set, by the names of its variables.
const VARIABLES: [(&str, Colour); 9] = [
    ("ink", INK),
    ("grey", GREY),
    ("pale", PALE),
    ("paper", WHITE),
    ("burst", VERMILLION),
    ("noburst", BLUE),
    ("capped", PURPLE),
    ("rescue", GREEN),
    ("stuck", ORANGE),
];
/// The hues that are tinted somewhere, and how much.
const TINTS: [u8; 2] = [30, 45];

/// A colour as `#rrggbb`.
pub(crate) fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A colour as a variable of the page's, its own value where the page sets none. A tint is
/// mixed from the page's hue and the page's paper.
pub(crate) fn variable(rgb: (u8, u8, u8)) -> String {
    let of = |name: &str, colour: Colour| format!("var(--figure-{name}, {})", hex(colour.rgb));
    let is = |colour: Colour| colour.rgb == rgb;
    if let Some((name, colour)) = VARIABLES.into_iter().find(|(_, colour)| is(*colour)) {
        return of(name, colour);
    }
    let tints = VARIABLES.into_iter().flat_map(|named| TINTS.map(|percent| (named, percent)));
    let mut tints = tints.filter(|((_, hue), percent)| is(hue.tint(f64::from(*percent) / 100.0)));
    tints.next().map_or_else(
        || hex(rgb),
        |((name, hue), percent)| {
            let (hue, paper) = (of(name, hue), of("paper", WHITE));
            format!("color-mix(in srgb, {hue} {percent}%, {paper})")
        },
    )
}

/// Lengths of ink and gap along a line, in pt; empty draws it whole.
pub(crate) type Dash = &'static [f64];
pub(crate) const SOLID: Dash = &[];
pub(crate) const DASHED: Dash = &[3.6, 1.8];
pub(crate) const DOTTED: Dash = &[0.9, 1.5];
pub(crate) const DASH_DOT: Dash = &[4.2, 1.4, 0.9, 1.4];
const LONG_DASH: Dash = &[7.0, 2.0];

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in pt.
    pub width_pt: f64,
    /// Its dash.
    pub dash: Dash,
}

impl Stroke {
    /// A stroke of this colour, width (pt) and dash.
    pub const fn new(colour: Colour, width_pt: f64, dash: Dash) -> Self {
        Self { colour, width_pt, dash }
    }
}

/// A line of one seed.
pub(crate) const SEED_PT: f64 = 0.7;
/// A line that is the subject of its panel.
pub(crate) const MAIN_PT: f64 = 1.0;
/// Axes and ticks.
pub(crate) const AXIS: Stroke = Stroke::new(INK, 0.5, SOLID);
/// A vertical line that marks a moment.
pub(crate) const MOMENT: Stroke = Stroke::new(INK, 0.6, DASHED);
/// The moment a cap is engaged.
pub(crate) const CAP_ON: Stroke = Stroke::new(INK, 0.6, DASH_DOT);
/// The moment a cap is removed.
pub(crate) const CAP_OFF: Stroke = Stroke::new(INK, 0.6, DOTTED);
/// A reference level.
pub const LEVEL: Stroke = Stroke::new(GREY, 0.6, DOTTED);
/// Sessions that a gate holds at the client.
pub const HELD: Stroke = Stroke::new(GREEN, 0.8, LONG_DASH);
/// The cap of a cell on the axis of populations.
pub(crate) const CAP_LEVEL: Stroke = Stroke::new(GREEN, 0.8, DASHED);
/// A real engine's measurements.
pub const ENGINE: Stroke = Stroke::new(INK, 0.7, SOLID);
/// The calibrated simulator.
pub(crate) const SIMULATOR: Stroke = Stroke::new(GREY, 0.8, DASHED);
/// Another setting of the simulator.
pub(crate) const SIMULATOR_TOO: Stroke = Stroke::new(PALE, 0.9, DOTTED);
/// A model's prediction.
pub const MODEL: Stroke = Stroke::new(BLUE, MAIN_PT, DASHED);
/// Model F as curves that nearly coincide.
pub(crate) const MODEL_CELLS: Stroke = Stroke::new(BLUE, 0.6, SOLID);
/// The quasi-static reading of model F.
pub(crate) const QUASI_STATIC: Stroke = Stroke::new(GREY, 0.8, DASHED);
pub(crate) const WINDOW_SHADE: Colour = Colour::opaque(120, 120, 120).at(0.19);
/// The time a cap is engaged.
pub(crate) const CAP_SHADE: Colour = GREEN.at(0.09);

/// Axis labels and panel titles, pt.
pub(crate) const LABEL_PT: f64 = 8.0;
/// Tick labels, legend and names inside a figure, pt.
pub(crate) const SMALL_PT: f64 = 7.0;
/// The source and what is missing, pt.
pub(crate) const NOTE_PT: f64 = 6.5;
/// Distance between baselines, as a multiple of the font size.
pub(crate) const LINE_HEIGHT: f64 = 1.25;

/// A figure that fits one column of a two-column page, in pt (3.3 in).
pub(crate) const COLUMN_WIDTH_PT: f64 = 237.6;
/// A figure across both columns, in pt (7 in).
pub(crate) const PAGE_WIDTH_PT: f64 = 504.0;
/// Length of a labelled tick, pt.
pub(crate) const TICK_PT: f64 = 2.6;
/// Length of a minor tick, pt.
pub(crate) const MINOR_TICK_PT: f64 = 1.5;
/// Radius of a data marker, pt.
pub(crate) const MARKER_PT: f64 = 1.7;

/// An arm's line, the same in every figure; one without a colour of its own is drawn in ink.
pub(crate) const fn arm_stroke(arm: &Arm) -> Stroke {
    match arm {
        Arm::Burst => Stroke::new(VERMILLION, SEED_PT, SOLID),
        Arm::NoBurst => Stroke::new(BLUE, SEED_PT, DASHED),
        Arm::Capped => Stroke::new(PURPLE, 0.9, DOTTED),
        Arm::Rescue => Stroke::new(GREEN, 1.2, SOLID),
        _ => Stroke::new(INK, SEED_PT, DASH_DOT),
    }
}

/// An arm's name as printed in figures.
pub fn arm_name(arm: &Arm) -> String {
    arm.word().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tint_lies_between_the_colour_and_the_paper() {
        assert_eq!(BLUE.tint(1.0), BLUE);
        assert_eq!(BLUE.tint(0.0), WHITE);
        assert_eq!(Colour::opaque(55, 155, 255).tint(0.5).rgb, (155, 205, 255));
    }

    #[test]
    fn on_a_page_a_colour_is_a_variable_and_a_tint_is_mixed_from_two() {
        assert_eq!(variable(INK.rgb), "var(--figure-ink, #1a1a1a)");
        assert_eq!(
            variable(BLUE.tint(0.45).rgb),
            "color-mix(in srgb, var(--figure-noburst, #0072b2) 45%, var(--figure-paper, #ffffff))"
        );
        assert_eq!(variable((1, 2, 3)), "#010203");
    }

    #[test]
    fn every_arm_has_its_own_colour_and_is_told_apart_without_it() {
        let drawn = [Arm::Burst, Arm::NoBurst, Arm::Capped, Arm::Rescue, Arm::Closed];
        let all = || drawn.iter().map(|arm| (arm, arm_stroke(arm)));
        for (a, sa) in all() {
            for (b, sb) in all().filter(|(b, _)| *b != a) {
                assert_ne!(sa.colour, sb.colour, "{a:?} {b:?}");
                assert_ne!((sa.dash, sa.width_pt), (sb.dash, sb.width_pt), "{a:?} {b:?}");
            }
        }
    }
}
