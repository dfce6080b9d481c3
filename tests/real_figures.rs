//! The committed figures: no text cut off, none over another.

#![allow(clippy::unwrap_used)] // a test that cannot go on fails

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use trapcheck::analysis::draw::{draw, run_picture};
use trapcheck::analysis::outputs::Project;
use trapcheck::analysis::store::Store;

#[test]
fn no_text_of_a_committed_figure_is_cut_off_or_lies_over_another() {
    let project = Project::open(Path::new("configs")).unwrap();
    let store = Store::new(&project.configs);
    let mut drawn = 0;
    for (path, analysis) in &project.analyses {
        let (expected, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let count = |counter: &AtomicUsize, n| {
            counter.fetch_add(n, Ordering::Relaxed);
        };
        let evaluated = project
            .evaluate(path, analysis, &store, |n| count(&expected, n), || count(&done, 1))
            .unwrap();
        let (expected, done) = (expected.into_inner(), done.into_inner());
        assert_eq!(done, expected, "{}: progress counts what there is", analysis.name);
        for spec in &analysis.figures {
            let (figure, _) = draw(&evaluated.scoring.runs, spec, &project.configs).unwrap();
            assert_eq!(figure.drawing.faults(), Vec::<String>::new(), "{}", spec.name);
            drawn += 1;
        }
        for run in &evaluated.scoring.runs {
            let figure = run_picture::draw(run);
            assert_eq!(figure.drawing.faults(), Vec::<String>::new(), "{}", run.dir.display());
        }
    }
    assert!(drawn >= 8, "{drawn}");
}
