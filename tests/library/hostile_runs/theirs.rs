//! A run of another shape and the layout that reads it, each to be broken in one place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use trapcheck::directory::LoadOptions;
use trapcheck::run::{Problem, Problems, Run};
use trapcheck::setup::Layout;

use crate::hostile_runs::fixture::only;

/// A run of another shape, with the layout that reads it; each may be broken.
pub struct Theirs {
    folder: TempDir,
    run: &'static str,
    layout: &'static str,
}

impl Theirs {
    /// The run of `tests/layouts` that has this layout of `configs/layouts`.
    pub fn new(layout: &'static str, run: &'static str) -> Self {
        let folder = TempDir::new().expect("a temporary directory");
        let theirs = Self { folder, run, layout };
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        copy(&root.join("tests/layouts").join(layout).join(run), &theirs.dir());
        let yaml = format!("{layout}.yaml");
        fs::create_dir_all(theirs.folder.path().join("layouts")).expect("made");
        fs::copy(root.join("configs/layouts").join(&yaml), theirs.yaml(layout)).expect("copied");
        theirs
    }

    /// Many tables, all in other units.
    pub fn cluster() -> Self {
        Self::new("cluster-csv", "limited_4711")
    }

    /// Few tables, in folders.
    pub fn lab() -> Self {
        Self::new("lab-summary", "07")
    }

    pub fn dir(&self) -> PathBuf {
        self.folder.path().join("runs").join(self.run)
    }

    pub fn yaml(&self, layout: &str) -> PathBuf {
        self.folder.path().join("layouts").join(format!("{layout}.yaml"))
    }

    pub fn layouts(&self) -> Vec<Arc<Layout>> {
        trapcheck::configs::layouts(self.folder.path()).unwrap_or_else(|e| panic!("{e}"))
    }

    pub fn write(&self, file: &str, bytes: impl AsRef<[u8]>) -> &Self {
        fs::write(self.dir().join(file), bytes).expect("writable");
        self
    }

    pub fn edit(&self, file: &str, from: &str, to: &str) -> &Self {
        edit(&self.dir().join(file), from, to);
        self
    }

    pub fn edit_layout(&self, from: &str, to: &str) -> &Self {
        edit(&self.yaml(self.layout), from, to);
        self
    }

    /// A second layout, which differs from the first in its name.
    pub fn second_layout(&self, name: &str) -> &Self {
        let text = fs::read_to_string(self.yaml(self.layout)).expect("a text");
        let renamed = text.replace(&format!("name: {}", self.layout), &format!("name: {name}"));
        fs::write(self.yaml(name), renamed).expect("writable");
        self
    }

    pub fn load_with(&self, options: &LoadOptions) -> Result<Run, Vec<Problem>> {
        trapcheck::directory::load_by(&self.dir(), &self.layouts(), options)
            .map_err(|Problems(list)| list)
    }

    pub fn load(&self) -> Result<Run, Vec<Problem>> {
        self.load_with(&LoadOptions::default())
    }

    pub fn sound(&self) -> Run {
        self.load().unwrap_or_else(|problems| panic!("expected a sound run: {problems:#?}"))
    }

    pub fn problem(&self) -> Problem {
        only(self.load().expect_err("expected a problem"))
    }
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("a text");
    assert_eq!(text.matches(from).count(), 1, "{from:?} stands once in {}", path.display());
    fs::write(path, text.replace(from, to)).expect("writable");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("it is there") {
        let (path, name) = entry.map(|e| (e.path(), e.file_name())).expect("readable");
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("copied");
        }
    }
}
