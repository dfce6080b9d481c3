//! `trapcheck campaign --ensemble`: the campaign many times over, kept as tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use trapcheck::analysis::Project;
use trapcheck::analysis::ensemble::stored::{Draws, pack, path_of};
use trapcheck::analysis::ensemble::{Campaigns, Ensemble, EnsembleSpec};
use trapcheck::table::{Cell, Table};

use crate::project::{bytes_under, root, stderr, stdout, trapcheck};

const FILE: &str = "configs/campaigns/ensemble.yaml";

/// Two draws of a few runs.
const SMALL: &str = "name: small\ndraws: 2\nseeds_per_draw: 10\n\
                     analyses: [{ analysis: lpm-curve, tables: [closed_curve] }]\n";

fn committed() -> Draws {
    Draws::open(&root().join("results/sim/ensemble")).unwrap()
}

/// Runs it and gives its exit code and what it printed.
fn ensemble(file: &str, out: &Path, args: &[&str]) -> (Option<i32>, String) {
    let out = out.to_str().unwrap();
    let args = [&["campaign", file, "--ensemble", "--out", out], args].concat();
    let output = trapcheck(&args).output().unwrap();
    (output.status.code(), stdout(&output) + &stderr(&output))
}

fn column<'a>(table: &'a Table, name: &str) -> impl Iterator<Item = &'a Cell> {
    let place = table.place(name).unwrap_or_else(|| panic!("{}: no {name}", table.name));
    table.rows.iter().map(move |row| &row.cells[place])
}

#[test]
fn draw_0_is_the_campaign_that_the_derived_tables_are_of() {
    let spec = EnsembleSpec::load(Path::new(FILE)).unwrap();
    let project = Project::open(Path::new("configs")).unwrap();
    let campaigns = Campaigns::of(&project).unwrap();
    let ensemble = Ensemble::of(&project, Path::new(FILE), &spec, &campaigns).unwrap();
    let tables = ensemble.draw(0, &|| ()).unwrap();
    assert_eq!(tables.len(), 38);
    for table in tables {
        let path = root().join(format!("paper/derived/{}.csv", table.name));
        let derived = fs::read_to_string(path).unwrap();
        assert!(table.to_csv() == derived, "{} is not as derived", table.name);
    }
}

#[test]
fn every_draw_has_the_rows_of_the_campaign_and_the_derived_columns() {
    let draws = committed();
    assert_eq!(draws.count(), 40);
    let identity = |draw: usize| {
        let tables = draws.tables(draw);
        let runs = tables.iter().find(|table| table.name == "paper_runs").unwrap();
        let of = |name| column(runs, name).map(Cell::print).collect::<Vec<_>>();
        (of("run"), of("seed"), of("cell"))
    };
    let first = identity(0);
    assert_eq!(first.0.len(), 299);
    for draw in 1..draws.count() {
        assert!(identity(draw) == first, "draw {draw}");
    }
    for table in draws.tables(7) {
        let path = root().join(format!("paper/derived/{}.csv", table.name));
        let derived = fs::read_to_string(path).unwrap();
        let header = derived.lines().next().unwrap();
        let mut printed = header.split(',').peekable();
        // A range is one column here and two in a derived table.
        let mut of_the_draw = Vec::new();
        for column in &table.columns {
            let ends = [format!("{}_least", column.name), format!("{}_most", column.name)];
            if printed.peek() == Some(&&*ends[0]) {
                of_the_draw.extend(ends);
                printed.nth(1);
            } else {
                of_the_draw.push(column.name.to_string());
                printed.next();
            }
        }
        assert_eq!(of_the_draw.join(","), header, "{}", table.name);
    }
}

#[test]
fn arms_of_a_seed_share_their_arrivals_and_draws_share_none() {
    let draws = committed();
    let mut all = BTreeSet::new();
    for draw in 0..draws.count() {
        let runs = draws.tables(draw).into_iter().find(|table| table.name == "paper_runs").unwrap();
        let mut by_plan: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
        let key =
            ["cell", "rate_multiple", "seed"].map(|name| column(&runs, name).collect::<Vec<_>>());
        let arrivals = column(&runs, "realized_base_arrivals_per_s");
        for (i, (arm, arrivals)) in column(&runs, "arm").zip(arrivals).enumerate() {
            if ["burst", "noburst", "capped"].contains(&&*arm.print()) {
                let Cell::Number(rate, _) = arrivals else { panic!("{arrivals:?}") };
                let plan = key.iter().map(|column| column[i].print()).collect();
                by_plan.entry(plan).or_default().insert(rate.to_string());
            }
        }
        assert_eq!(by_plan.values().filter(|rates| rates.len() != 1).count(), 0, "draw {draw}");
        let rates: Vec<String> = by_plan.into_values().flatten().collect();
        assert!(all.insert(rates), "draw {draw} is another draw over again");
    }
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.yaml");
    fs::write(&file, SMALL).unwrap();
    let made = |threads: &str| {
        let out = folder.path().join(threads);
        let args = [file.to_str().unwrap(), "--ensemble", "--pin", "--out", out.to_str().unwrap()];
        let mut command = trapcheck(&[&["campaign"], &args[..]].concat());
        command.env("RAYON_NUM_THREADS", threads).assert().success();
        bytes_under(&out)
    };
    let one = made("1");
    assert_eq!(one.len(), 2); // a table and the pins
    assert!(one == made("4"));
}

#[test]
fn a_draw_that_was_changed_is_named_when_it_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("small.yaml");
    fs::write(&file, SMALL).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(ensemble(file, folder.path(), &["--pin"]).0, Some(0));
    let (code, said) = ensemble(file, folder.path(), &["--sample", "2"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("draws 0, 1 made again: 4 rows, 0 differ"), "{said}");

    let table = "lpm-curve_closed_curve";
    let draws = Draws::open(&folder.path().join("small")).unwrap();
    let rows: String = (0..2).filter_map(|draw| draws.rows(table, draw)).collect();
    let path = path_of(&folder.path().join("small"), table);
    let packed = fs::read(&path).unwrap();
    let whole = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let header = whole.strip_suffix(&rows).unwrap();
    // The last row of draw 1 says something else.
    let last = rows.lines().last().unwrap();
    let other = last.replace("_s0", "_s9");
    assert_ne!(last, other);
    let changed = format!("{header}{}", rows.replace(last, &other));
    fs::write(&path, pack(&changed).unwrap()).unwrap();
    let (code, said) = ensemble(file, folder.path(), &["--sample", "2"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("lpm-curve_closed_curve, draw 1, row 2: is not what is made now"),
        "{said}"
    );
    // And made again, it is as it was.
    let (code, said) = ensemble(file, folder.path(), &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(fs::read(&path).unwrap() == packed);
}

#[test]
fn an_ensemble_that_cannot_be_made_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str| {
        let file = folder.path().join("small.yaml");
        fs::write(&file, text).unwrap();
        let (code, said) = ensemble(file.to_str().unwrap(), folder.path(), &[]);
        assert_eq!(code, Some(2), "{said}");
        said
    };
    let said = refused(&SMALL.replace("lpm-curve", "lpm"));
    assert!(said.contains("analyses: there is no analysis lpm"), "{said}");
    let said = refused(&SMALL.replace("closed_curve", "runs"));
    assert!(said.contains("analysis lpm-curve has no table runs"), "{said}");
    let said = refused(&SMALL.replace("lpm-curve", "vllm-cpu"));
    assert!(said.contains("analysis vllm-cpu has runs of no batch"), "{said}");
    let one = SMALL.replace("seeds_per_draw: 10", "seeds_per_draw: 4");
    let said = refused(&one.replace("lpm-curve", "replicate-edge").replace("closed_curve", "runs"));
    assert!(said.contains("seeds_per_draw: 4 is not above the seed of replicate-edge"), "{said}");
    let given = "arrivals: [{ cell: sglang-300k, multiple: 9.0, window_s: [0, 9], sessions: { 0: [1, 1] } }]\n";
    let said = refused(&[SMALL, given].concat());
    assert!(
        said.contains("arrivals of sglang-300k at 9: no run of an uncut arm has this rate"),
        "{said}"
    );
    let edge = SMALL.replace("lpm-curve", "replicate-edge").replace("closed_curve", "runs");
    let given = "arrivals: [{ cell: sglang-300k, from_empty: true, multiple: 2.5, window_s: [0, 3000], sessions: { 8: [585, 585] } }]\n";
    let said = refused(&[&*edge, given].concat());
    assert!(said.contains("arrivals of sglang-300k at 2.5: sessions: no run has seed 8"), "{said}");
    let said = refused(&SMALL.replace("draws: 2", "draws: 0"));
    assert!(said.contains("draws: expected 1 to 100000, found 0"), "{said}");
    let (code, said) = ensemble(FILE, folder.path(), &["--sample", "1"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("expected 40 draws, found 0"), "{said}");
}

/// The tables of draw 0 of an ensemble of the six runs at the edge.
fn at_the_edge(more: &str) -> Table {
    let text = format!(
        "name: edge\ndraws: 1\nseeds_per_draw: 10\n{more}\
         analyses: [{{ analysis: replicate-edge, tables: [from_empty] }}]\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("edge.yaml");
    fs::write(&file, text).unwrap();
    let spec = EnsembleSpec::load(&file).unwrap();
    let project = Project::open(Path::new("configs")).unwrap();
    let campaigns = Campaigns::of(&project).unwrap();
    let ensemble = Ensemble::of(&project, &file, &spec, &campaigns).unwrap();
    ensemble.draw(0, &|| ()).unwrap().remove(0)
}

/// A column by seed.
fn by_seed(table: &Table, name: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (seed, cell) in column(table, "seed").zip(column(table, name)) {
        found.entry(seed.print()).or_default().insert(cell.print());
    }
    found
}

#[test]
fn plans_that_are_given_arrivals_have_them_and_the_others_are_the_campaigns() {
    let given = "arrivals: [{ cell: sglang-300k, from_empty: true, multiple: 2.5, \
                 window_s: [0, 3000], sessions: { 0: [585, 585] } }]\n";
    let realized = |more| by_seed(&at_the_edge(more), "realized_multiple");
    let (own, with) = (realized(""), realized(given));
    // 585 / (3000 * 0.071534)
    assert_eq!(with["0"], ["2.726".to_owned()].into());
    assert_ne!(own["0"], with["0"]);
    assert_eq!(own["4"], with["4"]);
    // A second entry of the same runs counts for the seeds that the first one leaves.
    let first = given.replace("0: [585, 585]", "4: [585, 585]");
    let second = given.trim_start_matches("arrivals: [").replace("]}", "] }");
    let both = format!("{}, {second}", first.trim_end().trim_end_matches(']'));
    let with = realized(&both);
    assert_eq!([&with["0"], &with["4"]], [&["2.726".to_owned()].into(); 2]);
}

#[test]
fn the_arrivals_that_are_given_round_to_those_that_are_published() {
    let spec = EnsembleSpec::load(Path::new("configs/campaigns/ensemble-arrivals.yaml")).unwrap();
    let project = Project::open(Path::new("configs")).unwrap();
    let text = fs::read_to_string(root().join("paper/published/cells.yaml")).unwrap();
    let published: serde_yaml::Value = serde_yaml::from_str(&text).unwrap();
    let mut found = 0;
    for given in spec.arrivals.iter().filter(|given| !given.from_empty) {
        let cell = &published["cells"][given.cell.as_str()];
        let printed = &cell["realized_window_arrivals"][format!("{:?}", given.multiple).as_str()];
        let rate = project.configs.cell(&given.cell).unwrap().0.lambda_ref_per_s;
        let [from_s, to_s] = given.window_s;
        for (seed, ends) in &given.sessions {
            let printed = printed[*seed as usize].as_f64().unwrap();
            let rounded = |n: u64| (n as f64 / (rate * (to_s - from_s)) * 100.0).round() / 100.0;
            assert_eq!(ends.map(rounded), [printed; 2], "{given:?}");
            assert_ne!(rounded(ends[0] - 1), printed, "{given:?}");
            assert_ne!(rounded(ends[1] + 1), printed, "{given:?}");
            found += 1;
        }
    }
    assert_eq!(found, 18);
}
