//! Making a proof from a local git repository: its objects are copied as git hashes them.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::object::{Commit, Id, Kind, Object};
use super::proof::FILE_NAME;
use super::verify::is_inside;
use super::{Failure, Jobs, Proof, Push, Repository, TagRef, Verdict, time};
use crate::files::{FileError, Temporary, folder_of};
use crate::hash::sha256_hex;

/// How far back from a pushed commit the registered one is looked for.
const MOST_COMMITS: usize = 100_000;

/// What to prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The tag or commit: a name or 40 hexadecimal digits.
    pub revision: String,
    /// The registered file's path in the repository.
    pub file: String,
    /// Where the same bytes lie in this project, if elsewhere.
    pub published: Option<PathBuf>,
    /// The push by the server's log: when, what the branch then pointed at (the commit
    /// where this is empty), and where that was read.
    pub push: Option<(String, Option<String>, Option<String>)>,
    /// The jobs.
    pub jobs: Option<Jobs>,
    /// The verdict to claim.
    pub claim: Option<Verdict>,
}

/// Copies what proves the request into the new folder `dir`.
///
/// # Errors
/// The repository cannot be read or lacks an object, a time is not written as one, or the proof
/// cannot be written; nothing is left behind.
pub fn export(repository: &Repository, request: &Request, dir: &Path) -> Result<Proof, Failure> {
    let mut copied = Copied { repository, objects: BTreeMap::new() };
    let proof = copied.prove(request)?;
    if dir.exists() {
        return Err(FileError::new(dir, "already there").into());
    }
    let written = Temporary::folder(folder_of(dir)).and_then(|beside| {
        copied.write(&proof, beside.path())?;
        beside.rename_to(dir)
    });
    written.map_err(|why| FileError::new(dir, why))?;
    Ok(proof)
}

struct Copied<'a> {
    repository: &'a Repository,
    objects: BTreeMap<Id, Object>,
}

impl Copied<'_> {
    fn prove(&mut self, request: &Request) -> Result<Proof, Failure> {
        if let Some(outside) = request.published.as_ref().filter(|path| !is_inside(path)) {
            return Err(Failure::Outside(outside.display().to_string()));
        }
        let named = self.repository.resolve(&request.revision)?;
        let commit = self.repository.commit_of(named)?;
        let tag = if named == commit { None } else { Some(self.tag(named)?) };
        let blob = self.file(commit, &request.file)?;
        let push = request.push.as_ref();
        let push =
            push.map(|(at, head, source)| self.push(commit, at, head.as_deref(), source.clone()));
        if let Some(jobs) = &request.jobs {
            time::parse(&jobs.first_submitted).map_err(Failure::Time)?;
        }
        Ok(Proof {
            format: 1,
            file: request.file.clone(),
            published: request.published.clone(),
            sha256: sha256_hex(&blob),
            commit,
            tag,
            push: push.transpose()?,
            jobs: request.jobs.clone(),
            claim: request.claim,
        })
    }

    fn copy(&mut self, id: Id) -> Result<&Object, Failure> {
        let object = self.repository.object(id)?;
        Ok(self.objects.entry(id).or_insert(object))
    }

    fn commit(&mut self, id: Id) -> Result<Commit, Failure> {
        let there = |e| Failure::NotThere(format!("object {id}: {e}"));
        self.copy(id)?.commit().map_err(there)
    }

    fn tag(&mut self, id: Id) -> Result<TagRef, Failure> {
        let there = |e| Failure::NotThere(format!("object {id}: {e}"));
        let name = self.copy(id)?.tag().map_err(there)?.name;
        Ok(TagRef { name, object: id })
    }

    /// The bytes of a file of a commit, with every folder on the way.
    fn file(&mut self, commit: Id, path: &str) -> Result<Vec<u8>, Failure> {
        let mut at = self.commit(commit)?.tree;
        for part in path.split('/') {
            let there = |e| Failure::NotThere(format!("object {at}: {e}"));
            let entries = self.copy(at)?.tree().map_err(there)?;
            let entry = entries.into_iter().find(|e| e.name == part.as_bytes());
            let missing = || Failure::NotThere(format!("{path} is not in commit {commit}"));
            at = entry.ok_or_else(missing)?.id;
        }
        match self.copy(at)? {
            Object { kind: Kind::Blob, body } => Ok(body.clone()),
            _ => Err(Failure::NotThere(format!("{path} is not a file of commit {commit}"))),
        }
    }

    /// The push, with the commits that lead back from what was pushed.
    fn push(
        &mut self,
        commit: Id,
        at: &str,
        head: Option<&str>,
        source: Option<String>,
    ) -> Result<Push, Failure> {
        time::parse(at).map_err(Failure::Time)?;
        let head = match head {
            Some(name) => self.repository.commit_of(self.repository.resolve(name)?)?,
            None => commit,
        };
        for id in self.way_back(head, commit)? {
            self.copy(id)?;
        }
        Ok(Push { time: at.to_owned(), head, source })
    }

    /// The shortest way from `head` back to `commit`, both included.
    fn way_back(&self, head: Id, commit: Id) -> Result<Vec<Id>, Failure> {
        let mut child_of: BTreeMap<Id, Option<Id>> = BTreeMap::from([(head, None)]);
        let mut open = VecDeque::from([head]);
        while let Some(id) = open.pop_front().filter(|_| child_of.len() < MOST_COMMITS) {
            if id == commit {
                let way = std::iter::successors(Some(id), |id| child_of.get(id).copied().flatten());
                return Ok(way.collect());
            }
            let there = |e| Failure::NotThere(format!("object {id}: {e}"));
            for parent in self.repository.object(id)?.commit().map_err(there)?.parents {
                child_of.entry(parent).or_insert_with(|| {
                    open.push_back(parent);
                    Some(id)
                });
            }
        }
        Err(Failure::NotThere(format!("the pushed commit {head} does not lead back to {commit}")))
    }

    fn write(&self, proof: &Proof, dir: &Path) -> std::io::Result<()> {
        let objects = dir.join("objects");
        fs::create_dir(&objects)?;
        for (id, object) in &self.objects {
            fs::write(objects.join(id.to_string()), object.framed())?;
        }
        fs::write(dir.join(FILE_NAME), proof.to_yaml())
    }
}
