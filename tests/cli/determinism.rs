//! Same inputs, same bytes: from run to run and at any number of threads. That everything is
//! computed the same at five is the test of the committed manifest, which computes it all again.

use crate::project::{Project, bytes_under, root};

#[test]
fn one_thread_gives_the_committed_bytes() {
    let project = Project::whole();
    for folder in ["paper/derived", "figures"] {
        std::fs::remove_dir_all(project.path(folder)).unwrap();
    }
    project.trapcheck(&["numbers"]).env("RAYON_NUM_THREADS", "1").assert().success();
    for folder in ["paper", "figures"] {
        let is_made = |(path, _): &(std::path::PathBuf, Vec<u8>)| !path.ends_with("README.md");
        let made: Vec<_> = project.bytes_of(folder).into_iter().filter(is_made).collect();
        let committed = bytes_under(&root().join(folder)).into_iter();
        let committed: Vec<_> = committed.filter(is_made).collect();
        let names = |files: &[(std::path::PathBuf, Vec<u8>)]| {
            files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&made), names(&committed), "{folder}");
        for ((path, made), (_, committed)) in made.iter().zip(&committed) {
            assert!(made == committed, "{} differs", path.display());
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
