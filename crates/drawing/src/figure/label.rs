//! Text with true subscripts, superscripts and italic symbols, measured before it is drawn.
//!
//! The markup is `_{below}`, `^{above}`, `*italic*` and a backslash before a character that is
//! meant as itself. Kerning across pieces and nested indices are left out.

use super::font::{self, Face};

/// A text in pieces of one face and level each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Label {
    pieces: Vec<Piece>,
}

/// A stretch of text with one face at one level.
#[derive(Debug, Clone, PartialEq)]
struct Piece {
    text: String,
    face: Face,
    level: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Base,
    Below,
    Above,
}

/// A piece as placed: offsets from the label's own baseline start.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedPiece {
    /// What it says.
    pub text: String,
    /// Upright or italic.
    pub face: Face,
    /// Font size, pt.
    pub size_pt: f64,
    /// Offset to the right, pt.
    pub dx_pt: f64,
    /// Offset downwards, pt.
    pub dy_pt: f64,
}

const INDEX_SIZE: f64 = 0.72;
const BELOW_SHIFT: f64 = 0.18;
const ABOVE_SHIFT: f64 = -0.34;

impl Label {
    /// Reads the markup; whatever is no markup stands for itself.
    pub fn parse(markup: &str) -> Self {
        let mut label = Self::default();
        let (mut face, mut level) = (Face::Regular, Level::Base);
        let mut rest = markup.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '\\' => label.push(rest.next().unwrap_or('\\'), face, level),
                '*' if face == Face::Regular => face = Face::Italic,
                '*' => face = Face::Regular,
                '_' | '^' if rest.peek() == Some(&'{') => {
                    rest.next();
                    level = if c == '_' { Level::Below } else { Level::Above };
                }
                '}' if level != Level::Base => level = Level::Base,
                _ => label.push(c, face, level),
            }
        }
        label
    }

    /// The text as it is, for names that come from the user's files.
    pub fn plain(text: &str) -> Self {
        let mut label = Self::default();
        text.chars().for_each(|c| label.push(c, Face::Regular, Level::Base));
        label
    }

    /// What it says, without levels and faces.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|p| p.text.as_str()).collect()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Its width at this size, in pt.
    pub fn width_pt(&self, size_pt: f64) -> f64 {
        self.pieces.iter().map(|p| p.width_pt(size_pt)).sum()
    }

    /// Its pieces, placed along the baseline.
    pub fn runs(&self, size_pt: f64) -> Vec<PlacedPiece> {
        let mut dx_pt = 0.0;
        let place = |piece: &Piece| {
            let run = PlacedPiece {
                text: piece.text.clone(),
                face: piece.face,
                size_pt: piece.size_pt(size_pt),
                dx_pt,
                dy_pt: piece.level.shift() * size_pt,
            };
            dx_pt += piece.width_pt(size_pt);
            run
        };
        self.pieces.iter().map(place).collect()
    }

    /// The label broken into lines no wider than this, at its spaces.
    pub fn wrapped(&self, size_pt: f64, width_pt: f64) -> Vec<Label> {
        let mut lines = vec![Label::default()];
        for word in self.words() {
            let line = lines.last().map_or(0.0, |l| l.width_pt(size_pt));
            if line > 0.0 && line + word.width_pt(size_pt) > width_pt {
                lines.push(Label::default());
            }
            if let Some(line) = lines.last_mut() {
                word.pieces.iter().for_each(|p| {
                    p.text.chars().for_each(|c| line.push(c, p.face, p.level));
                });
            }
        }
        lines
    }

    /// The words, each with the space that follows it.
    fn words(&self) -> Vec<Label> {
        let mut words = vec![Label::default()];
        for piece in &self.pieces {
            for c in piece.text.chars() {
                if let Some(word) = words.last_mut() {
                    word.push(c, piece.face, piece.level);
                }
                if c == ' ' {
                    words.push(Label::default());
                }
            }
        }
        words
    }

    fn push(&mut self, character: char, face: Face, level: Level) {
        let shown = if font::has_glyph(face, character) { character } else { '?' };
        match self.pieces.last_mut() {
            Some(last) if last.face == face && last.level == level => last.text.push(shown),
            _ => self.pieces.push(Piece { text: shown.to_string(), face, level }),
        }
    }
}

impl Piece {
    fn size_pt(&self, base_pt: f64) -> f64 {
        if self.level == Level::Base { base_pt } else { INDEX_SIZE * base_pt }
    }

    fn width_pt(&self, base_pt: f64) -> f64 {
        font::width_pt(self.face, &self.text, self.size_pt(base_pt))
    }
}

impl Level {
    fn shift(self) -> f64 {
        match self {
            Level::Base => 0.0,
            Level::Below => BELOW_SHIFT,
            Level::Above => ABOVE_SHIFT,
        }
    }
}

impl From<&str> for Label {
    fn from(markup: &str) -> Self {
        Self::parse(markup)
    }
}

impl From<String> for Label {
    fn from(markup: String) -> Self {
        Self::parse(&markup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_smaller_lower_and_after_its_symbol() {
        let runs = Label::parse("*λ*_{ref}").runs(10.0);
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].text.as_str(), runs[0].face), ("λ", Face::Italic));
        assert_eq!((runs[1].text.as_str(), runs[1].face), ("ref", Face::Regular));
        assert!(runs[1].size_pt < runs[0].size_pt);
        assert!(runs[1].dy_pt > 0.0 && runs[1].dx_pt > 0.0);
    }

    #[test]
    fn names_from_files_keep_their_underscores_and_stars() {
        assert_eq!(Label::plain("a_b*c^{d}").text(), "a_b*c^{d}");
        assert_eq!(Label::parse("n_cap").text(), "n_cap");
        assert_eq!(Label::parse(r"2 \* 3").text(), "2 * 3");
    }

    #[test]
    fn a_character_that_the_font_lacks_is_shown_as_a_question_mark() {
        assert_eq!(Label::plain("a\u{4e00}b").text(), "a?b");
    }

    #[test]
    fn wrapping_keeps_every_word_and_no_line_is_too_wide() {
        let label = Label::parse("one two *three* four_{x} five six seven eight");
        let lines = label.wrapped(7.0, 60.0);
        assert!(lines.len() > 1);
        assert!(lines.iter().all(|l| l.width_pt(7.0) <= 62.0));
        assert_eq!(lines.iter().map(Label::text).collect::<String>(), label.text());
    }
}
