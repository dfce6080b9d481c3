//! A local git repository, asked for its objects and the names of its commits.
//!
//! Git itself reads it (`git cat-file --batch`): packs, alternates, worktrees and whatever
//! comes next are its own. It asks no server, follows no replacements, and may not take
//! more than [`GIT_MEMORY`]. What it gives is hashed again here, so a wrong object is an
//! error and never a proof; a proof is verified without git and without the repository.
//!
//! A library in its place would do less for more: `gix-odb` brings 33 crates, does not
//! hash what it finds, and leaves the names of commits to do. SHA-256 repositories are not
//! read.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::object::{Id, Kind, Object};
use crate::files::FileError;

/// A repository's folder, opened.
#[derive(Debug)]
pub struct Repository {
    dir: PathBuf,
    /// Started again after an object that git could not give.
    objects: RefCell<Option<Objects>>,
}

/// Tags that point at tags are followed this far.
const DEEPEST: usize = 16;

/// The largest object of a proof, bytes.
const LARGEST: usize = 64 << 20;

/// What git may allocate at once: an object, its base and its delta.
const GIT_MEMORY: &str = "128m";

impl Repository {
    /// Opens the repository that a folder belongs to: a working tree, a linked worktree or
    /// a bare one.
    ///
    /// # Errors
    /// There is none, or there is no git.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let repository = Self { dir: path.into(), objects: RefCell::default() };
        repository.ask(&["rev-parse", "--git-dir"])?.map_err(|said| repository.error(said))?;
        Ok(repository)
    }

    /// The object of a name, checked against it.
    ///
    /// # Errors
    /// It is not there, damaged, or too large to be registered.
    pub fn object(&self, id: Id) -> Result<Object, FileError> {
        let mut objects = self.objects.borrow_mut();
        let running = match objects.take() {
            Some(running) => running,
            None => Objects::start(&self.dir).map_err(|e| self.no_git(&e))?,
        };
        let (running, object) = running.read(id).map_err(|message| self.error(message))?;
        *objects = Some(running);
        match object.id() {
            Ok(found) if found == id => Ok(object),
            Ok(found) => Err(self.error(format!("object {id} is damaged: it hashes to {found}"))),
            Err(e) => Err(self.error(format!("object {id}: {e}"))),
        }
    }

    /// The object a name stands for, as git reads it: a tag, a branch, `HEAD`, `main~2`, the
    /// digits of a commit. A tag's name gives its tag object where it has one.
    ///
    /// # Errors
    /// There is no such name.
    pub fn resolve(&self, name: &str) -> Result<Id, FileError> {
        let none = || self.error(format!("no tag, branch or commit named {name:?}"));
        // Git would take it for an option.
        if name.starts_with('-') {
            return Err(none());
        }
        let found = self.ask(&["rev-parse", "--verify", "--quiet", name])?.map_err(|_| none())?;
        match found.trim_end() {
            long if long.len() == 64 => {
                Err(self.error("its objects have SHA-256 names, which are not read".into()))
            }
            id => id.parse().map_err(|e| self.error(format!("{name:?}: {e}"))),
        }
    }

    /// The commit an object is or, through tags, points at.
    ///
    /// # Errors
    /// As [`Self::object`], and where it is none.
    pub fn commit_of(&self, id: Id) -> Result<Id, FileError> {
        let mut at = id;
        for _ in 0..DEEPEST {
            let object = self.object(at)?;
            match object.kind {
                Kind::Commit => return Ok(at),
                Kind::Tag => {
                    let tag = object.tag().map_err(|e| self.error(format!("object {at}: {e}")))?;
                    at = tag.target;
                }
                Kind::Blob | Kind::Tree => break,
            }
        }
        Err(self.error(format!("{id} is no commit")))
    }

    /// What git prints, or what it says where it fails.
    fn ask(&self, arguments: &[&str]) -> Result<Result<String, String>, FileError> {
        let output = git(&self.dir).args(arguments).stdin(Stdio::null()).output();
        let output = output.map_err(|e| self.no_git(&e))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&output.stderr);
        let said = said.lines().next().unwrap_or_default().trim_start_matches("fatal: ");
        Ok(if output.status.success() { Ok(text(&output.stdout)) } else { Err(said.into()) })
    }

    fn error(&self, message: String) -> FileError {
        FileError::new(&self.dir, message)
    }

    fn no_git(&self, error: &std::io::Error) -> FileError {
        self.error(format!("cannot run git, which reads the repository: {error}"))
    }
}

/// Git on a repository: with its own settings, on its own files, and with nothing else.
fn git(dir: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(dir).args(["--no-replace-objects"]);
    // Named by DIR alone, whatever shell or hook this runs in.
    for variable in ["DIR", "COMMON_DIR", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES"] {
        git.env_remove(format!("GIT_{variable}"));
    }
    git.env("GIT_ALLOC_LIMIT", GIT_MEMORY)
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none")
        .env("LC_ALL", "C");
    git
}

/// A running `git cat-file --batch`: a name in, an object out.
#[derive(Debug)]
struct Objects {
    git: Child,
    names: ChildStdin,
    found: BufReader<ChildStdout>,
}

impl Objects {
    fn start(dir: &Path) -> std::io::Result<Self> {
        let mut git = git(dir)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let pipes = git.stdin.take().zip(git.stdout.take());
        let (names, found) = pipes.ok_or_else(|| std::io::Error::other("no pipes"))?;
        Ok(Self { git, names, found: BufReader::new(found) })
    }

    /// Reads an object. After a failure it may be out of step, and is no more.
    fn read(mut self, id: Id) -> Result<(Self, Object), String> {
        let unreadable = || format!("git cannot read object {id}: git fsck says why");
        let mut line = String::new();
        writeln!(self.names, "{id}").map_err(|_| unreadable())?;
        self.names.flush().map_err(|_| unreadable())?;
        self.found.read_line(&mut line).map_err(|_| unreadable())?;
        let parts: Vec<&str> = line.split_whitespace().collect();
        let [_, kind, size] = parts[..] else {
            let missing = parts.get(1) == Some(&"missing");
            return Err(if missing { format!("there is no object {id}") } else { unreadable() });
        };
        let (kind, size) = Kind::of(kind).zip(size.parse().ok()).ok_or_else(unreadable)?;
        if size > LARGEST {
            return Err(format!("object {id} has {size} bytes; a proof takes {LARGEST} at most"));
        }
        // The object, and the end of its line.
        let mut body = vec![0; size + 1];
        self.found.read_exact(&mut body).map_err(|_| unreadable())?;
        body.truncate(size);
        Ok((self, Object { kind, body }))
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // It has nothing to finish; waiting leaves no process behind.
        let _ = self.git.kill();
        let _ = self.git.wait();
    }
}
