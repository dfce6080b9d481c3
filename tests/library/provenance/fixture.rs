//! A repository with a registration in it, made by git, and a proof of that.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use trapcheck::provenance::export::{Request, export};
use trapcheck::provenance::object::{Id, Object};
use trapcheck::provenance::{Failure, Jobs, Proof, Repository, Verdict, Verified, verify};

pub const FILE: &str = "configs/registrations/mirror.yaml";

/// 2026-11-05 14:07:08 CST, the committer's clock.
pub const COMMITTED_UNIX: i64 = 1_793_909_228;

/// A project in a folder of its own, with its history.
pub struct Project(TempDir);

impl Project {
    /// Four commits: the registration is in the second, its annotated tag is `mirror-reg`.
    pub fn new() -> Self {
        let project = Self(TempDir::new().expect("a temporary directory"));
        project.git(&["init", "--quiet", "--initial-branch=main"]);
        project.write("README.md", "A project.\n").commit("Begin", COMMITTED_UNIX - 86_400);
        project
            .write(FILE, "name: mirror\nrates: [1.35, 1.65]\n")
            .write("configs/a.yaml", "a: 1\n")
            .write("configs/a/b.yaml", "b: 1\n")
            .commit("Register the mirror test", COMMITTED_UNIX);
        project.git(&["tag", "-a", "-m", "Registration", "mirror-reg"]);
        project.write("notes.md", "One.\n").commit("Notes", COMMITTED_UNIX + 10);
        project.write("notes.md", "One.\nTwo.\n").commit("More notes", COMMITTED_UNIX + 20);
        project
    }

    pub fn dir(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("it is writable");
        self
    }

    pub fn commit(&self, message: &str, unix_s: i64) -> &Self {
        self.git(&["add", "--all"]);
        self.git_at(unix_s, &["commit", "--quiet", "-m", message]);
        self
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_at(COMMITTED_UNIX + 5, arguments)
    }

    pub fn git_at(&self, unix_s: i64, arguments: &[&str]) -> String {
        git(self.dir(), unix_s, arguments)
    }

    pub fn id(&self, revision: &str) -> Id {
        self.git(&["rev-parse", revision]).trim().parse().expect("an object name")
    }

    /// A proof of the tag, pushed with the last commit 27 s later, 43 min before the job.
    pub fn proof(&self) -> Exported<'_> {
        self.proof_of(&request())
    }

    pub fn proof_of(&self, request: &Request) -> Exported<'_> {
        let repository = Repository::open(self.dir()).expect("a repository");
        let dir = self.path("provenance/mirror");
        export(&repository, request, &dir).expect("a proof");
        Exported { project: self, dir }
    }
}

/// The proof that most tests start from.
pub fn request() -> Request {
    Request {
        revision: "mirror-reg".into(),
        file: FILE.into(),
        published: None,
        push: Some((
            "2026-11-05 14:07:35 CST".into(),
            Some("main".into()),
            Some("log.json".into()),
        )),
        jobs: Some(Jobs {
            first_submitted: "2026-11-05 14:50:52 CST".into(),
            ids: Some("17264055-64".into()),
            source: None,
        }),
        claim: Some(Verdict::PreRegistered),
    }
}

/// Runs git on its own, without the user's settings.
pub fn git(dir: &Path, unix_s: i64, arguments: &[&str]) -> String {
    let date = format!("{unix_s} -0600");
    let output = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=Someone", "-c", "user.email=someone@example.org"])
        .args(["-c", "commit.gpgsign=false", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .env_remove("GIT_DIR")
        .output()
        .expect("git runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A proof in its folder.
pub struct Exported<'a> {
    pub project: &'a Project,
    pub dir: PathBuf,
}

impl Exported<'_> {
    pub fn verify(&self) -> Result<Verified, Vec<Failure>> {
        verify(&self.dir, self.project.dir())
    }

    #[track_caller]
    pub fn sound(&self) -> Verified {
        self.verify().unwrap_or_else(|failures| panic!("expected a sound proof: {failures:#?}"))
    }

    /// Every reason why it fails, one per line.
    #[track_caller]
    pub fn reasons(&self) -> String {
        let failures = self.verify().expect_err("expected a failure");
        failures.iter().map(|f| format!("{f}\n")).collect()
    }

    #[track_caller]
    pub fn fails(&self, words: &str) {
        let reasons = self.reasons();
        assert!(reasons.contains(words), "{words:?} is not in: {reasons}");
    }

    /// The paths of its objects, in order of name.
    pub fn objects(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.dir.join("objects")).expect("objects");
        let mut paths: Vec<_> = entries.map(|e| e.expect("an object").path()).collect();
        paths.sort();
        paths
    }

    pub fn object(&self, id: Id) -> Object {
        let framed = fs::read(self.dir.join("objects").join(id.to_string())).expect("it is there");
        Object::parse(&framed).expect("an object")
    }

    /// Adds an object under its own name.
    pub fn add(&self, object: &Object) -> Id {
        let id = object.id().expect("no collision");
        fs::write(self.dir.join("objects").join(id.to_string()), object.framed())
            .expect("writable");
        id
    }

    pub fn drop_object(&self, id: Id) {
        fs::remove_file(self.dir.join("objects").join(id.to_string())).expect("it is there");
    }

    pub fn read(&self) -> Proof {
        Proof::load(&self.dir).expect("a proof")
    }

    pub fn write(&self, proof: &Proof) {
        fs::write(self.dir.join("proof.yaml"), proof.to_yaml()).expect("it is writable");
    }

    /// Changes what the proof says.
    pub fn edit(&self, change: impl FnOnce(&mut Proof)) -> &Self {
        let mut proof = self.read();
        change(&mut proof);
        self.write(&proof);
        self
    }
}
