//! The simulator's predictions of the real runs, calibrated on a cache-off run alone.

use crate::project::Project;

/// Rows of the derived table, each as (population, quantity, measured, predicted).
fn rows(project: &Project) -> Vec<[String; 4]> {
    project.trapcheck(&["derive", "vllm-cpu"]).assert().success();
    let path = project.path("paper/derived/vllm-cpu_sim_against_engine.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let place = |name: &str| header.iter().position(|column| column == name).unwrap();
    let places = ["population", "quantity", "measured", "predicted"].map(place);
    lines.map(|row| places.map(|i| row[i].clone())).collect()
}

fn of<'a>(rows: &'a [[String; 4]], quantity: &str) -> Vec<&'a [String; 4]> {
    rows.iter().filter(|row| row[1] == quantity).collect()
}

#[test]
fn the_paired_tests_states_and_the_crossing_are_predicted() {
    let rows = rows(&Project::copy());
    let states = of(&rows, "state");
    assert_eq!(states.len(), 9);
    assert!(states.iter().all(|row| row[2] == row[3]), "{states:?}");
    let crossing = of(&rows, "half_hit_crossing");
    let [measured, predicted] = [2, 3].map(|i| crossing[0][i].parse::<f64>().unwrap());
    assert!((measured - predicted).abs() < 1.0, "{crossing:?}");
}

#[test]
fn a_closed_run_never_serves_more_turns_than_its_tool_calls_allow() {
    // A law of both sides: each session spends 0.5 s on average between two turns.
    for row in of(&rows(&Project::copy()), "turns_per_s") {
        let Ok(population) = row[0].parse::<f64>() else { continue };
        for rate in [&row[2], &row[3]] {
            assert!(rate.parse::<f64>().unwrap() < population / 0.5 * 1.2, "{row:?}");
        }
    }
}

#[test]
fn without_a_cache_off_run_there_is_a_row_that_says_so() {
    let project = Project::copy();
    for (path, _) in project.bytes_of("results") {
        if path.to_string_lossy().contains("agentload_e0a") && path.ends_with("meta.json") {
            let run = project.path("results").join(path);
            std::fs::remove_dir_all(run.parent().unwrap()).unwrap();
        }
    }
    let rows = rows(&project);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0][3], "no cache-off run of an engine among the runs");
}
