//! A copy of the project in a folder of its own, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

/// The folders a user has after a clone.
const FOLDERS: [&str; 5] = ["configs", "analysis", "results", "paper", "figures"];

/// A copy that a test may damage.
pub struct Project(TempDir);

impl Project {
    /// The engine's runs and their analysis, and the theory's; without the simulated runs,
    /// which are many, and without what is derived and drawn.
    pub fn copy() -> Self {
        let project = Self::whole();
        fs::remove_file(project.path("results/sim")).unwrap();
        fs::remove_dir_all(project.path("paper/derived")).unwrap();
        fs::remove_dir_all(project.path("figures")).unwrap();
        // The pages and macros of the ledger, which the copy does not have.
        fs::remove_dir_all(project.path("paper/numbers")).ok();
        fs::remove_file(project.path("paper/numbers.tex")).ok();
        for (path, _) in project.bytes_of("analysis") {
            if !["theory.yaml", "vllm-cpu.yaml"].iter().any(|kept| path.ends_with(kept)) {
                fs::remove_file(project.path("analysis").join(path)).unwrap();
            }
        }
        project
    }

    /// Everything; the simulated runs are the project's own, not copies.
    pub fn whole() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in FOLDERS {
            copy(&root().join(folder), &dir.path().join(folder));
        }
        std::os::unix::fs::symlink(root().join("results/sim"), dir.path().join("results/sim"))
            .unwrap();
        Self(dir)
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    /// The program, working in this copy.
    pub fn trapcheck(&self, args: &[&str]) -> Command {
        let mut command = trapcheck(args);
        command.current_dir(self.0.path());
        command
    }

    /// Every file of a folder with its bytes, in order of path.
    pub fn bytes_of(&self, folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
        bytes_under(&self.path(folder))
    }
}

/// The project itself.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program, working in the project.
pub fn trapcheck(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("trapcheck").unwrap();
    command.args(args).current_dir(root());
    command
}

/// Every file under a folder, relative to it, with its bytes.
pub fn bytes_under(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(|entry| {
            let relative = entry.path().strip_prefix(folder).unwrap().to_owned();
            (relative, fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn copy(from: &Path, to: &Path) {
    for (path, bytes) in bytes_under(from) {
        // Shared, not copied: see `Project::whole`.
        if path.starts_with("sim") && from.ends_with("results") {
            continue;
        }
        let to = to.join(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(to, bytes).unwrap();
    }
}

pub fn stdout(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &std::process::Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
