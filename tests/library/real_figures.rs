//! The figures of the project's analyses: they say what made their runs, no text is cut off or
//! over another, and what they count is what the ledger counts.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use trapcheck::analysis::Project;
use trapcheck::analysis::draw::{draw, run_picture};
use trapcheck::analysis::spec::{Draw, FigureSpec, StuckCounts};
use trapcheck::analysis::store::Store;
use trapcheck::analysis::{Analysis, ScoredRun};
use trapcheck::figure::Figure;
use trapcheck::run::Source;
use trapcheck::setup::yaml;

/// The project and each analysis' runs, read and judged once for all tests.
static EVALUATED: LazyLock<(Project, Vec<Vec<ScoredRun>>)> = LazyLock::new(|| {
    let project = Project::open(Path::new("configs")).unwrap();
    let store = Store::new(&project.configs);
    let runs = project.analyses.iter().map(|(path, analysis)| {
        let (expected, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let count = |counter: &AtomicUsize, n| {
            counter.fetch_add(n, Ordering::Relaxed);
        };
        let evaluated = project
            .evaluate(path, analysis, &store, |n| count(&expected, n), || count(&done, 1))
            .unwrap();
        let (expected, done) = (expected.into_inner(), done.into_inner());
        assert_eq!(done, expected, "{}: progress counts what there is", analysis.name);
        evaluated.scoring.runs
    });
    let runs = runs.collect();
    (project, runs)
});

fn analyses() -> impl Iterator<Item = (&'static Analysis, &'static [ScoredRun])> {
    let (project, runs) = &*EVALUATED;
    project.analyses.iter().map(|(_, analysis)| analysis).zip(runs.iter().map(Vec::as_slice))
}

fn specs() -> impl Iterator<Item = (&'static FigureSpec, &'static [ScoredRun])> {
    analyses().flat_map(|(analysis, runs)| analysis.figures.iter().map(move |spec| (spec, runs)))
}

fn spec(name: &str) -> (&'static FigureSpec, &'static [ScoredRun]) {
    specs().find(|(spec, _)| *spec.name == *name).unwrap()
}

fn drawn(spec: &FigureSpec, runs: &[ScoredRun]) -> Figure {
    draw(runs, spec, &EVALUATED.0.configs).unwrap().0
}

#[test]
fn no_text_of_a_figure_is_cut_off_or_lies_over_another() {
    for (spec, runs) in specs() {
        assert_eq!(drawn(spec, runs).drawing.faults(), Vec::<String>::new(), "{}", spec.name);
    }
    assert!(specs().count() >= 8);
    for run in analyses().flat_map(|(_, runs)| runs) {
        let figure = run_picture::draw(run);
        assert_eq!(figure.drawing.faults(), Vec::<String>::new(), "{}", run.dir.display());
    }
}

#[test]
fn a_figure_without_an_engine_run_never_says_measured() {
    let mut simulated = 0;
    for (spec, runs) in specs() {
        let figure = drawn(spec, runs);
        if figure.origin.runs_words().as_deref() != Some("simulated") {
            continue;
        }
        let drawing = &figure.drawing;
        let printed = drawing.texts().map(|text| text.label.text());
        let csv = figure.data.to_csv();
        for words in printed.chain([drawing.title.clone(), drawing.description.clone(), csv]) {
            assert!(!words.to_lowercase().contains("measured"), "{}: {words}", spec.name);
        }
        simulated += 1;
    }
    assert!(simulated >= 7, "{simulated}");
}

#[test]
fn the_figures_of_the_engine_name_it_and_its_hardware() {
    let (spec, runs) = spec("vllm-cpu_stampede");
    let drawing = drawn(spec, runs).drawing;
    let heading = "vLLM 0.32.0, CPU: vllm-cpu-tiny-30k";
    assert!(drawing.texts().any(|text| text.label.text() == heading));
    assert!(drawing.title.ends_with("(vLLM 0.32.0, CPU)"), "{}", drawing.title);
}

#[test]
fn a_typed_source_that_the_runs_contradict_is_refused_and_one_that_they_bear_out_is_not() {
    let (spec, runs) = spec("fig1_stampede");
    let typed = |source| FigureSpec { source: Some(source), ..spec.clone() };
    let drawn = |source| draw(runs, &typed(source), &EVALUATED.0.configs);
    let refusal = drawn(Source::Engine).unwrap_err().to_string();
    let expected = "source: the analysis says engine, but 18 of its 18 runs say simulator, the \
                    first results/sim/paired/";
    assert!(refusal.starts_with(expected), "{refusal}");
    assert!(drawn(Source::Simulator).is_ok());
}

#[test]
fn a_source_in_free_words_is_refused_with_what_may_stand_there() {
    let text = "{name: a, title: b, source: 'SGLang on A100, measured', draw: {kind: time-scales}}";
    let refusal = yaml::parse::<FigureSpec>(Path::new("x.yaml"), text).unwrap_err().to_string();
    assert!(refusal.contains("expected engine or simulator"), "{refusal}");
    assert!(refusal.contains("found \"SGLang on A100, measured\""), "{refusal}");
}

/// The rows of figure 2 that are runs, once each: series, cell and run.
fn points(figure: &Figure) -> Vec<[String; 3]> {
    let place = |name| figure.data.place(name).unwrap();
    let [quantity, source] = ["quantity", "source"].map(place);
    let shown = ["series", "cell", "run"].map(place);
    let rows = figure.data.rows.iter().map(|row| &row.cells);
    let of_runs = rows
        .filter(|cells| cells[quantity].print() == "gap_slope" && cells[source].print() != "model");
    of_runs.map(|cells| shown.map(|i| cells[i].print())).collect()
}

/// A number of the ledger: what is computed, where it is, and what is published.
fn ledger(id: &str) -> (Option<usize>, usize) {
    let text = std::fs::read_to_string("paper/numbers.json").unwrap();
    let line = text.lines().find(|line| line.contains(&format!("\"id\":\"{id}\""))).unwrap();
    let entry: serde_json::Value = serde_json::from_str(line.trim_end_matches(',')).unwrap();
    let number = |key: &str| entry[key].as_str().unwrap().parse().ok();
    (number("ours"), number("published").unwrap())
}

/// Runs that a view of the ledger names.
fn counted(view: &str) -> usize {
    let sql = format!("select count(*) from {view}");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_trapcheck"));
    let output = command.args(["query", &sql, "--format", "csv"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().nth(1).unwrap().parse().unwrap()
}

#[test]
fn figure_2_draws_the_stuck_runs_of_its_cells_that_the_ledger_counts_and_names_the_rest() {
    let (spec, runs) = spec("fig2_theorem");
    let Draw::Theorem { cells, published: Some(published), .. } = &spec.draw else {
        panic!("figure 2 is about the theorem")
    };
    let figure = drawn(spec, runs);
    let points = points(&figure);
    assert!(points.iter().all(|[_, cell, _]| cells.contains(cell)));
    let different: BTreeSet<_> = points.iter().map(|[.., run]| run).collect();
    assert_eq!(different.len(), points.len());

    let of = |series: &str| points.iter().filter(|point| point[0] == series).count();
    let here = [of("stuck_after_a_trigger"), of("stuck_from_empty")];
    let [triggered, from_empty] = [ledger("stuck-runs-total"), ledger("from-empty-stuck")];
    // Two batches have no stand-in, so the ledger counts none of the first.
    assert_eq!((triggered.0, here[0]), (None, counted("stuck")));
    assert_eq!(Some(here[1]), from_empty.0);
    let stated = StuckCounts { triggered: triggered.1, from_empty: from_empty.1 };
    assert_eq!(*published, stated);

    let text = figure.drawing.texts().map(|text| text.label.text()).collect::<Vec<_>>().join(" ");
    for (here, published, what) in [
        (here[0], published.triggered, "stuck after a trigger"),
        (here[1], published.from_empty, "stuck from empty"),
    ] {
        assert!(text.contains(&format!("{what}, simulated ({here})")), "{text}");
        let lacking = format!("{} of the published {published} runs {what}", published - here);
        assert!(text.contains(&lacking), "{text}");
    }
}

#[test]
fn runs_of_another_workload_are_not_among_the_stuck_runs_of_the_cells_asked_for() {
    let (_, runs) = spec("fig4_mirror");
    let stuck = |run: &&ScoredRun| run.stuck == Some(true) && run.meta.cell == "mirror";
    assert_eq!(runs.iter().filter(stuck).count(), 6);
    let (spec, _) = spec("fig2_theorem");
    let figure = drawn(spec, runs);
    assert!(!points(&figure).is_empty());
    assert!(points(&figure).iter().all(|[_, cell, _]| cell != "mirror"));
}
