//! Runs of other shapes in which one file, or the layout that reads them, is any bytes. The fuzz
//! target `layouts` has this file too.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trapcheck::configs::layouts;
use trapcheck::directory::{LoadOptions, load_by};
use trapcheck::run::Run;

/// The runs of `tests/layouts` and the layouts of `configs/`, copied.
pub struct AnyFile {
    folder: TempDir,
    files: Vec<Sound>,
}

/// A file that is to be replaced.
struct Sound {
    path: PathBuf,
    /// The run that it is read for.
    run: PathBuf,
    bytes: Vec<u8>,
}

impl AnyFile {
    /// Copies them out of the project.
    pub fn new(project: &str) -> Self {
        let folder = TempDir::new().expect("a temporary directory");
        let runs = ["cluster-csv/limited_4711", "frames/night-1", "lab-summary/07"];
        let mut files = Vec::new();
        for name in runs {
            let run = folder.path().join("runs").join(name);
            copy(&Path::new(project).join("tests/layouts").join(name), &run, &run, &mut files);
            let (layout, _) = name.split_once('/').expect("a layout's");
            let yaml = format!("layouts/{layout}.yaml");
            let bytes = fs::read(Path::new(project).join("configs").join(&yaml)).expect("there");
            let path = folder.path().join(yaml);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(&path, &bytes).expect("writable");
            files.push(Sound { path, run, bytes });
        }
        Self { folder, files }
    }

    /// How many files there are to replace.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// What a file holds.
    pub fn sound(&self, file: usize) -> &[u8] {
        &self.files[file].bytes
    }

    /// Reads the run of a file that holds these bytes instead, and puts it back: a run, or what
    /// is wrong with it in words.
    pub fn read_with(&self, file: usize, bytes: &[u8]) -> Result<Run, Vec<String>> {
        let Sound { path, run, bytes: sound } = &self.files[file];
        fs::write(path, bytes).expect("writable");
        let read = match layouts(self.folder.path()) {
            Ok(layouts) => load_by(run, &layouts, &LoadOptions::default())
                .map_err(|problems| problems.0.iter().map(ToString::to_string).collect()),
            Err(error) => Err(vec![error.to_string()]),
        };
        fs::write(path, sound).expect("writable");
        read
    }
}

/// Copies a folder, in order of name.
fn copy(from: &Path, to: &Path, run: &Path, files: &mut Vec<Sound>) {
    fs::create_dir_all(to).expect("made");
    let mut paths: Vec<_> =
        fs::read_dir(from).expect("a folder").map(|entry| entry.expect("listed").path()).collect();
    paths.sort();
    for source in paths {
        let path = to.join(source.file_name().expect("a name"));
        if source.is_dir() {
            copy(&source, &path, run, files);
            continue;
        }
        let bytes = fs::read(&source).expect("a file");
        fs::write(&path, &bytes).expect("writable");
        files.push(Sound { path, run: run.to_owned(), bytes });
    }
}
