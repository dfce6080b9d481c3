//! The figures of a page: drawn as for the paper, in the page's colours.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::analysis::draw::draw;
use crate::analysis::spec::FigureSpec;
use crate::figure::{Figure, svg};

use super::runs::Runs;
use super::{Judged, PageError};

/// A figure that was drawn.
#[derive(Debug)]
pub struct Drawn<'a> {
    /// The analysis it is of; empty for none.
    pub analysis: &'a str,
    /// What was asked for.
    pub spec: &'a FigureSpec,
    /// The drawing and where it comes from.
    pub figure: Figure,
    /// For the page.
    pub svg: String,
    /// How many files are behind it.
    files: usize,
}

impl Drawn<'_> {
    /// Where its SVG lies below `data/`.
    pub(crate) fn svg_path(&self) -> String {
        format!("figures/{}.svg", &*self.spec.name)
    }

    /// What draws it; `None` where no analysis does.
    pub fn command(&self) -> Option<String> {
        (!self.analysis.is_empty()).then(|| format!("trapcheck figures {}", &*self.spec.name))
    }

    /// The ids of the runs behind it.
    fn runs<'r>(&self, runs: &'r Runs<'_>) -> BTreeSet<&'r str> {
        self.figure.origin.runs().filter_map(|run| runs.id(Path::new(run))).collect()
    }
}

/// Draws every figure of some groups, in their order.
///
/// # Errors
/// One that cannot be drawn.
pub(crate) fn draw_all<'a>(groups: &'a [Judged<'_>]) -> Result<Vec<Drawn<'a>>, PageError> {
    let all = groups.iter().flat_map(|group| group.figures.iter().map(move |spec| (group, spec)));
    let drawn = all.map(|(group, spec)| {
        let failed = |error| PageError::Draw { name: spec.name.to_string(), error };
        let (figure, sources) = draw(&group.scoring.runs, spec, group.configs).map_err(failed)?;
        let svg = svg::for_page(&figure.drawing).map_err(|error| failed(error.into()))?;
        Ok(Drawn { analysis: &group.name, spec, figure, svg, files: sources.len() })
    });
    drawn.collect()
}

/// The list of figures; `None` of none.
pub fn list(drawn: &[Drawn<'_>], runs: &Runs<'_>) -> Option<Value> {
    let one = |drawn: &Drawn<'_>| {
        let drawing = &drawn.figure.drawing;
        let name = &*drawn.spec.name;
        json!({
            "name": name,
            "analysis": drawn.analysis,
            "title": drawn.spec.title,
            "description": drawing.description,
            "made_by": drawn.figure.origin.heading(),
            "width_pt": drawing.width_pt,
            "height_pt": drawing.height_pt,
            "svg": drawn.svg_path(),
            "runs": drawn.runs(runs),
            "files": drawn.files,
            "command": drawn.command(),
        })
    };
    let figures: Vec<Value> = drawn.iter().map(one).collect();
    (!figures.is_empty()).then(|| json!({"figures": figures}))
}
