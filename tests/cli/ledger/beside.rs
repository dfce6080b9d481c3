//! What an ensemble beside the campaign's makes of a number: held against it, borne out by it,
//! contradicted by it, and listed.

use std::fs;

use trapcheck::analysis::ensemble::stored::{pack, path_of};
use trapcheck::numbers::ledger::predictive::more_than_half;

use super::{BINDINGS, numbers, small};
use crate::project::{Project, root, stderr, stdout, trapcheck};

/// The number that rests on simulated runs.
const RATE: &str = "lpm-rate:
  query: select max(completions_per_s) from \"lpm-curve_closed_curve\"
";
const CAUSE: &str = "  cause: simulator\n  because: another mechanism\n  with: ways\n";

/// Forty draws of the one table, a run each.
fn draw(project: &Project, ensemble: &str, rate: impl Fn(u32) -> f64) {
    let row = |draw| format!("{draw}\tr\tsimulator\t{:.4}\n", rate(draw));
    let rows: String = (0..40).map(row).collect();
    let text = format!("draw:40\trun\tsource\tcompletions_per_s:4\n{rows}");
    let folder = project.path("results/sim").join(ensemble);
    fs::create_dir_all(&folder).unwrap();
    fs::write(path_of(&folder, "lpm-curve_closed_curve"), pack(&text).unwrap()).unwrap();
}

/// The small project with a simulated curve, of which 0.60 is published. The campaign's draws lie
/// at 0.10 to 0.14, those with the engines' ways 0.1 above, and those of the paper's arrivals
/// around what is published.
fn simulated() -> Project {
    let project = small();
    let numbers = project.path("paper/published/numbers.yaml");
    let text = fs::read_to_string(&numbers).unwrap();
    let rate = "  - {id: lpm-rate, where: [App. E.8], statement: rate, value: 0.60, form: scalar, unit: x, kind: measured, decimals: 2}\nmodel_values:";
    fs::write(numbers, text.replace("model_values:", rate)).unwrap();
    let analysis = "analysis/lpm-curve.yaml";
    fs::copy(root().join(analysis), project.path(analysis)).unwrap();
    draw(&project, "ensemble", |draw| 0.1005 + f64::from(draw) / 1000.0);
    draw(&project, "ensemble-ways", |draw| 0.2005 + f64::from(draw) / 1000.0);
    draw(&project, "ensemble-arrivals", |draw| 0.55 + f64::from(draw) / 400.0);
    project
}

/// What the program says with more in the number's binding.
fn bound(project: &Project, more: &str) -> (Option<i32>, String) {
    let bindings = format!("{BINDINGS}{RATE}{more}");
    fs::write(project.path("analysis/numbers/sec-2.yaml"), bindings).unwrap();
    numbers(project)
}

fn row_of(project: &Project, args: &[&str]) -> String {
    let output = project.trapcheck(args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    let row = said.lines().find(|line| line.starts_with("lpm-rate,"));
    row.unwrap_or_else(|| panic!("no lpm-rate in {said}")).to_owned()
}

#[test]
fn a_number_is_held_against_the_ensemble_that_its_binding_names() {
    let project = simulated();
    let page = |more| {
        let (code, said) = bound(&project, more);
        assert_eq!(code, Some(0), "{said}");
        let page = fs::read_to_string(project.path("paper/numbers/sec-2.md")).unwrap();
        let at = page.find("`lpm-rate`").unwrap();
        let status = page[..at].rfind("\n## ").unwrap();
        let status = page[status..].trim_start().lines().next().unwrap().to_owned();
        (status, page[at..].lines().next().unwrap().to_owned())
    };
    let (status, row) = page("");
    assert!(status.starts_with("## Differs"), "{status}: {row}");
    let (status, _) = page("  given: arrivals\n");
    assert!(status.starts_with("## Consistent"), "{status}");
    // What is not drawn there cannot be held against it.
    fs::remove_dir_all(project.path("results/sim/ensemble-arrivals")).unwrap();
    let (code, said) = bound(&project, "  given: arrivals\n");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("results/sim/ensemble-arrivals has no draws: make ensemble"), "{said}");
}

#[test]
fn a_cause_is_borne_out_or_contradicted_by_the_draws_with_it_and_its_effects_are_listed() {
    let project = simulated();
    let (code, said) = bound(&project, CAUSE);
    assert_eq!(code, Some(0), "{said}");
    let page = fs::read_to_string(project.path("paper/numbers/sec-2.md")).unwrap();
    assert!(page.contains("nearer in 40 of 40 draws"), "{page}");
    let effects = |which| row_of(&project, &["numbers", "effects", which, "--format", "csv"]);
    let expected = "lpm-rate,sec 2,0.60,differs,differs,value,0.120,0.220,40,40";
    assert_eq!(effects("ways"), expected);
    // Its draws have other plans: none is nearer than another.
    assert!(effects("arrivals").starts_with("lpm-rate,sec 2,0.60,differs,consistent,value,0.120,"));
    assert!(effects("arrivals").ends_with(",,"), "{}", effects("arrivals"));

    let (code, said) = bound(&project, &CAUSE.replace("ways", "arrivals"));
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("lpm-rate: with: only ways has the same plans draw by draw"), "{said}");

    draw(&project, "ensemble-ways", |draw| 0.0505 + f64::from(draw) / 1000.0);
    let (code, said) = bound(&project, CAUSE);
    assert_eq!(code, Some(1), "{said}");
    let says = "lpm-rate: cause simulator: with the engines' own ways the middle draw's value is \
                0.070 in place of 0.120, nearer in 0 of 40 draws";
    assert!(said.contains(says), "{said}");
}

/// The committed effects of the engines' ways.
const EFFECTS: &str = "docs/effects-of-engine-ways.csv";

#[test]
fn the_effects_of_the_engines_ways_are_those_that_are_printed() {
    let output = trapcheck(&["numbers", "effects", "ways", "--format", "csv"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let committed = fs::read_to_string(root().join(EFFECTS)).unwrap();
    assert!(stdout(&output) == committed, "{EFFECTS} is not what is printed now");
}

#[test]
fn what_the_text_counts_of_the_effects_is_in_their_table() {
    let mut rows = csv::Reader::from_path(root().join(EFFECTS)).unwrap();
    let header = rows.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let place = |name| header.iter().position(|column| column == name).unwrap();
    let [without, with, value] = ["without", "with", "value"].map(place);
    let counted = |is: &dyn Fn(&csv::StringRecord) -> bool| rows.iter().filter(|r| is(r)).count();
    let differs = |row: &csv::StringRecord, place: usize| &row[place] == "differs";
    let has_interval = |row: &csv::StringRecord| !row[value].is_empty();
    // Told from chance, nearer or farther away.
    let moves = |row: &csv::StringRecord, is_nearer: bool| {
        let [nearer, changed] =
            ["nearer", "changed"].map(|name| row[place(name)].parse::<usize>().unwrap());
        more_than_half(if is_nearer { nearer } else { changed - nearer }, changed)
    };
    let intervals = counted(&has_interval);
    let nearer = counted(&|row| has_interval(row) && moves(row, true));
    let farther = counted(&|row| has_interval(row) && moves(row, false));
    let sentences = [
        format!(
            "Of the {} numbers and fields of tables that are drawn there, {} differ without these \
             ways and {} with them: {} differ no more, and {} come to,",
            rows.len(),
            counted(&|row| differs(row, without)),
            counted(&|row| differs(row, with)),
            counted(&|row| differs(row, without) && !differs(row, with)),
            counted(&|row| differs(row, with) && !differs(row, without)),
        ),
        format!(
            "Of the {intervals} that have an interval {nearer} come nearer, {farther} go farther \
             away and {} do neither,",
            intervals - nearer - farther
        ),
    ];
    let text = fs::read_to_string(root().join("docs/simulated-runs.md")).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in sentences {
        assert!(text.contains(&sentence), "the text does not say: {sentence}");
    }
}
