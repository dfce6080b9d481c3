//! `trapcheck register fill`, and what it refuses.

use std::fs;

use crate::project::{Project, stderr};

const INPUTS: &str = "configs/fill/sglang-300k.yaml";

#[test]
fn inputs_that_contradict_themselves_fill_nothing() {
    let project = Project::copy();
    let text = fs::read_to_string(project.path(INPUTS)).unwrap();
    for (from, to, why) in [
        ("seeds: [0, 1, 2]", "seeds: [0, 0, 0]", "seeds: 0 is there twice"),
        ("largest_stable: 2.0", "largest_stable: 3.0", "largest_stable 3 is not below"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(text, changed);
        fs::write(project.path("inputs.yaml"), changed).unwrap();
        let args = ["register", "fill", "--name", "mine", "--inputs", "inputs.yaml"];
        let output = project.trapcheck(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("inputs.yaml") && said.contains(why), "{said}");
        assert!(output.stdout.is_empty());
        assert!(!project.path("configs/registrations/mine.yaml").exists());
    }
}

#[test]
fn a_registration_that_names_a_seed_or_rate_twice_is_not_used() {
    let project = Project::copy();
    let path = project.path("configs/registrations/r1.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let doubled = |key: &str| -> String {
        let line = |line: &str| match line.strip_prefix(key).map(|rest| rest.trim()) {
            Some(list) => {
                let first = list.trim_matches(['[', ']']).split(',').next().unwrap();
                format!("{key} [{first}, {first}]\n")
            }
            None => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    };
    for key in ["seeds:", "rates:"] {
        let changed = doubled(key);
        assert_ne!(text, changed, "{key}");
        fs::write(&path, changed).unwrap();
        let output = project.trapcheck(&["score", "results/vllm-cpu"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("r1.yaml") && said.contains("is there twice"), "{said}");
    }
}
