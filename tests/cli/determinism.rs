//! Same inputs, same bytes: from run to run and at any number of threads.

use crate::project::{Project, bytes_under, root};

#[test]
fn two_runs_and_one_thread_give_the_committed_bytes() {
    let project = Project::whole();
    for threads in ["1", "5"] {
        for folder in ["paper/derived", "figures"] {
            std::fs::remove_dir_all(project.path(folder)).unwrap();
        }
        project.trapcheck(&["numbers"]).env("RAYON_NUM_THREADS", threads).assert().success();
        for folder in ["paper", "figures"] {
            let made = project.bytes_of(folder);
            let committed = bytes_under(&root().join(folder));
            let names = |files: &[(std::path::PathBuf, Vec<u8>)]| {
                files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>()
            };
            let written_by_people = ["README.md"];
            let committed: Vec<_> = committed
                .into_iter()
                .filter(|(path, _)| !written_by_people.iter().any(|name| path.ends_with(name)))
                .collect();
            let made: Vec<_> = made
                .into_iter()
                .filter(|(path, _)| !written_by_people.iter().any(|name| path.ends_with(name)))
                .collect();
            assert_eq!(names(&made), names(&committed), "{folder}, {threads} threads");
            for ((path, made), (_, committed)) in made.iter().zip(&committed) {
                assert!(made == committed, "{} differs, {threads} threads", path.display());
            }
        }
    }
}

#[test]
fn the_order_in_which_paths_are_given_does_not_matter() {
    let project = Project::copy();
    let (one, two) = (
        "results/vllm-cpu/cpu_1_pulled_20261129-125700",
        "results/vllm-cpu/cpu_2_pulled_20261129-141500",
    );
    let score = |paths: [&str; 2]| {
        project.trapcheck(&["score", paths[0], paths[1]]).output().unwrap().stdout
    };
    assert_eq!(score([one, two]), score([two, one]));
}
