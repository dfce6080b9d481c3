//! A local git repository, read for its objects and the names of its commits.
//!
//! Loose objects, packs (index version 2), alternates and worktrees; every object is
//! checked against its name, so that a misread one is an error and never a proof. Not
//! read: reftables, SHA-256 repositories, and anything on a server.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::object::{Id, Kind, Object};
use super::pack::Pack;
use crate::limits::FILE_BYTES;
use crate::reading::{self, Bounded};

/// A repository's folder, opened.
#[derive(Debug)]
pub struct Repository {
    /// Where HEAD and the worktree's own refs lie.
    git_dir: PathBuf,
    /// Where the shared refs lie.
    common_dir: PathBuf,
    /// Folders of objects, the repository's own first.
    object_dirs: Vec<PathBuf>,
    packs: Vec<Pack>,
}

/// A repository that cannot be read, or lacks what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", place.display())]
pub struct RepositoryError {
    /// The file or folder.
    pub place: PathBuf,
    /// What is wrong with it.
    pub message: String,
}

impl RepositoryError {
    pub(super) fn new(place: &Path, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    pub(super) fn io(place: &Path, error: &std::io::Error) -> Self {
        Self::new(place, format!("cannot read: {error}"))
    }
}

/// Tags that point at tags, and symbolic refs, are followed this far.
const DEEPEST: usize = 16;

impl Repository {
    /// Opens the repository of a working tree, a linked worktree, or a bare one.
    ///
    /// # Errors
    /// There is none, or one of its indices cannot be read.
    pub fn open(path: &Path) -> Result<Self, RepositoryError> {
        let git_dir = git_dir(path)?;
        let common_dir = match reading::text(git_dir.join("commondir")) {
            Ok(there) => git_dir.join(there.trim_end()),
            Err(_) => git_dir.clone(),
        };
        let mut object_dirs = vec![common_dir.join("objects")];
        let mut at = 0;
        while let Some(dir) = object_dirs.get(at).cloned() {
            let alternates = reading::text(dir.join("info/alternates")).unwrap_or_default();
            for line in alternates.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
                let other = dir.join(line);
                if !object_dirs.contains(&other) {
                    object_dirs.push(other);
                }
            }
            at += 1;
        }
        let mut packs = Vec::new();
        for dir in &object_dirs {
            packs.extend(Pack::open_all(&dir.join("pack"))?);
        }
        Ok(Self { git_dir, common_dir, object_dirs, packs })
    }

    /// The object of a name, checked against it.
    ///
    /// # Errors
    /// It is not there, or damaged.
    pub fn object(&self, id: Id) -> Result<Object, RepositoryError> {
        let object = match self.loose(id)? {
            Some(object) => object,
            None => self.packed(id)?,
        };
        match object.id() {
            Ok(found) if found == id => Ok(object),
            Ok(found) => Err(self.error(format!("object {id} is damaged: it hashes to {found}"))),
            Err(e) => Err(self.error(format!("object {id}: {e}"))),
        }
    }

    /// The object a name stands for: 40 hexadecimal digits, a tag, a branch, `HEAD`
    /// or a full ref. A tag's name gives its tag object where it has one.
    ///
    /// # Errors
    /// There is no such name.
    pub fn resolve(&self, name: &str) -> Result<Id, RepositoryError> {
        if let Ok(id) = name.parse() {
            return Ok(id);
        }
        let places = [name.to_owned(), format!("refs/tags/{name}"), format!("refs/heads/{name}")];
        for place in places.iter().filter(|p| *p == "HEAD" || p.starts_with("refs/")) {
            if let Some(id) = self.reference(place, 0)? {
                return Ok(id);
            }
        }
        let message = format!("no tag, branch or full object name {name:?}");
        Err(self.error(message))
    }

    /// The commit an object is or, through tags, points at.
    ///
    /// # Errors
    /// As [`Self::object`], and where it is none.
    pub fn commit_of(&self, id: Id) -> Result<Id, RepositoryError> {
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

    fn error(&self, message: String) -> RepositoryError {
        RepositoryError::new(&self.common_dir, message)
    }

    fn reference(&self, name: &str, depth: usize) -> Result<Option<Id>, RepositoryError> {
        if depth > DEEPEST || name.split('/').any(|part| part == "..") {
            return Err(self.error(format!("{name} is no ref")));
        }
        for dir in [&self.git_dir, &self.common_dir] {
            let path = dir.join(name);
            let Ok(text) = reading::text(&path) else { continue };
            let text = text.trim_end();
            return match text.strip_prefix("ref: ") {
                Some(other) => self.reference(other, depth + 1),
                None => match text.parse() {
                    Ok(id) => Ok(Some(id)),
                    Err(e) => Err(RepositoryError::new(&path, e.to_string())),
                },
            };
        }
        let packed = reading::text(self.common_dir.join("packed-refs")).unwrap_or_default();
        let line = packed.lines().find_map(|line| line.split_once(' ').filter(|(_, n)| *n == name));
        line.map(|(id, _)| id.parse().map_err(|e| self.error(format!("packed-refs: {e}"))))
            .transpose()
    }

    fn loose(&self, id: Id) -> Result<Option<Object>, RepositoryError> {
        let name = id.to_string();
        for dir in &self.object_dirs {
            let path = dir.join(&name[..2]).join(&name[2..]);
            let Ok(file) = reading::open(&path) else { continue };
            let mut framed = Vec::new();
            Bounded::new(flate2::read::ZlibDecoder::new(file), FILE_BYTES)
                .read_to_end(&mut framed)
                .map_err(|e| RepositoryError::io(&path, &e))?;
            let object = Object::parse(&framed);
            return object.map(Some).map_err(|e| RepositoryError::new(&path, e.to_string()));
        }
        Ok(None)
    }

    fn packed(&self, id: Id) -> Result<Object, RepositoryError> {
        for pack in &self.packs {
            if let Some(offset) = pack.find(id) {
                return pack.object(offset, &|base| self.object(base));
            }
        }
        Err(self.error(format!("there is no object {id}")))
    }
}

/// The `.git` folder of a working tree or worktree, or the path itself when it is bare.
fn git_dir(path: &Path) -> Result<PathBuf, RepositoryError> {
    let git = path.join(".git");
    if git.is_file() {
        let text = reading::text(&git).map_err(|e| RepositoryError::io(&git, &e))?;
        let there = text.trim_end().strip_prefix("gitdir: ");
        let there = there.ok_or_else(|| RepositoryError::new(&git, "expected gitdir: PATH"))?;
        return Ok(path.join(there));
    }
    let found = [git, path.to_owned()].into_iter().find(|dir| dir.join("objects").is_dir());
    found.ok_or_else(|| RepositoryError::new(path, "not a git repository"))
}
