//! Checking one proof: every object has the name it is kept under, the chain leads
//! from tag and commit to the file, the project's file is that one, and the times agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path};

use super::object::{Commit, Id, Kind, Object};
use super::{Malformed, Proof, Repository, Verdict, time};
use crate::files::FileError;
use crate::hash::sha256_hex;

/// Clocks of committers and servers differ by less than this.
const CLOCK_SKEW_S: i64 = 300;

/// What a sound proof shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The proof.
    pub proof: Proof,
    /// Whether the committed path is a file here as well, of the same bytes. It need not be
    /// where the proof names another place for them.
    pub file_is_here: bool,
    /// When the commit was made, by its committer's clock, Unix seconds.
    pub committed_unix: i64,
    /// When it was pushed, Unix seconds.
    pub pushed_unix: Option<i64>,
    /// When the first job was submitted, Unix seconds.
    pub first_job_unix: Option<i64>,
    /// What these say.
    pub verdict: Verdict,
}

/// Why a proof does not hold, or cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A file of the proof cannot be read or is not in its format.
    #[error("{0}")]
    Unreadable(String),
    /// A repository cannot be read or lacks an object, or a proof cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The repository has not what is to be proven: no such file, no such way back.
    #[error("{0}")]
    NotThere(String),
    /// An object's bytes are not those of its name.
    #[error("objects/{name}: its bytes hash to {found}: changed")]
    Changed {
        /// Its name.
        name: String,
        /// What its bytes hash to.
        found: Id,
    },
    /// An object is not what its place in the chain needs.
    #[error("objects/{0}: {1}")]
    Malformed(Id, Malformed),
    /// The chain needs an object that is not there.
    #[error("objects/{0} is missing: the chain breaks at {1}")]
    Missing(Id, &'static str),
    /// An object that no chain leads to.
    #[error("objects/{0}: not a part of the chain")]
    Stray(Id),
    /// The tag points at another commit.
    #[error("tag {name} was moved: it points at {target}, not at the commit {commit}")]
    MovedTag {
        /// Its name.
        name: String,
        /// What it points at.
        target: Id,
        /// What it should point at.
        commit: Id,
    },
    /// The repository's tag is no longer the one that was proven.
    #[error("tag {name} was moved since: it is {now}, proven was {proven}")]
    MovedSince {
        /// Its name.
        name: String,
        /// The object it names now.
        now: Id,
        /// The object it named.
        proven: Id,
    },
    /// The tag object carries another name.
    #[error("the tag object is named {found}, not {expected}")]
    TagName {
        /// The name in the object.
        found: String,
        /// The name in the proof.
        expected: String,
    },
    /// The commit does not hold the file.
    #[error("{0} is not a file of the commit's tree")]
    NotInTree(String),
    /// The file here is not the one that was committed.
    #[error("{file} differs from the committed file: it hashes to {found}, not {expected}")]
    FileDiffers {
        /// Its path.
        file: String,
        /// Its object name here.
        found: Id,
        /// Its object name in the commit.
        expected: Id,
    },
    /// The file the proof names is not a part of the project.
    #[error("{0} is outside the project: expected a path inside it, without ..")]
    Outside(String),
    /// The SHA-256 in the proof is not the file's.
    #[error("the file's SHA-256 is {found}, the proof says {expected}")]
    Sha256 {
        /// The file's.
        found: String,
        /// The proof's.
        expected: String,
    },
    /// The pushed commit does not descend from the registered one.
    #[error("the pushed commit {head} does not lead back to the commit {commit}")]
    NotPushed {
        /// What was pushed.
        head: Id,
        /// What should have been.
        commit: Id,
    },
    /// A time is no time, or its zone was not kept then.
    #[error("{0}")]
    Time(Malformed),
    /// The push precedes what it pushed.
    #[error("pushed {0} before the commit was made: a wrong time zone?")]
    PushedBeforeCommit(String),
    /// The verdict is weaker than the claim, or late.
    #[error("{verdict}, not {claim}: committed {committed}, pushed {pushed}, first job {job}")]
    Verdict {
        /// What the times say.
        verdict: &'static str,
        /// What was claimed.
        claim: &'static str,
        /// When it was committed.
        committed: String,
        /// When it was pushed.
        pushed: String,
        /// When the first job was submitted.
        job: String,
    },
}

/// Checks the proof in the folder `dir`; the registered file is looked up under `root`.
///
/// # Errors
/// Every reason why it does not hold.
pub fn verify(dir: &Path, root: &Path) -> Result<Verified, Vec<Failure>> {
    let proof = Proof::load(dir).map_err(|e| vec![Failure::Unreadable(e.to_string())])?;
    let (objects, mut failures) = objects(dir).map_err(|failure| vec![failure])?;
    let mut chain = Chain { objects: &objects, used: BTreeSet::new() };
    match chain.check(&proof, root) {
        Err(failure) => failures.push(failure),
        Ok((commit, file_is_here)) => {
            let stray = objects.keys().filter(|id| !chain.used.contains(id));
            failures.extend(stray.map(|id| Failure::Stray(*id)));
            match judged(proof, commit.committed_unix, file_is_here) {
                Ok(verified) if failures.is_empty() => return Ok(verified),
                Ok(_) => {}
                Err(failure) => failures.push(failure),
            }
        }
    }
    Err(failures)
}

/// The bytes of a file inside the project; links must stay inside as well.
fn read_inside(root: &Path, path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display().to_string();
    let cannot = |e: std::io::Error| Failure::Unreadable(format!("cannot read {name}: {e}"));
    if !is_inside(path) {
        return Err(Failure::Outside(name));
    }
    let place = root.join(path).canonicalize().map_err(cannot)?;
    if !place.starts_with(root.canonicalize().map_err(cannot)?) {
        return Err(Failure::Outside(name));
    }
    crate::reading::bytes(&place).map_err(cannot)
}

/// Whether a path is relative and leads nowhere but down.
pub(super) fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Checks that a repository's tag still is the one that was proven.
///
/// # Errors
/// It is gone, or was moved since.
pub fn tag_is_kept(verified: &Verified, repository: &Repository) -> Result<(), Failure> {
    let Some(tag) = &verified.proof.tag else { return Ok(()) };
    let name = tag.name.clone();
    match repository.resolve(&format!("refs/tags/{name}")) {
        Err(e) => Err(e.into()),
        Ok(now) if now == tag.object => Ok(()),
        Ok(now) => Err(Failure::MovedSince { name, now, proven: tag.object }),
    }
}

/// The objects of a proof that are what their names say, and the others.
fn objects(dir: &Path) -> Result<(BTreeMap<Id, Object>, Vec<Failure>), Failure> {
    let folder = dir.join("objects");
    let cannot_read = |path: &Path, e: std::io::Error| {
        Failure::Unreadable(format!("cannot read {}: {e}", path.display()))
    };
    let cannot = |e| cannot_read(&folder, e);
    let (mut objects, mut failures) = (BTreeMap::new(), Vec::new());
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder).map_err(cannot)? {
        paths.push(entry.map_err(cannot)?.path());
    }
    paths.sort();
    for path in paths {
        let framed = crate::reading::bytes(&path).map_err(|e| cannot_read(&path, e))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let id = match Id::of(&framed) {
            Ok(id) if id.to_string() == name => id,
            Ok(found) => {
                failures.push(Failure::Changed { name, found });
                continue;
            }
            Err(e) => {
                failures.push(Failure::Unreadable(format!("objects/{name}: {e}")));
                continue;
            }
        };
        match Object::parse(&framed) {
            Ok(object) => drop(objects.insert(id, object)),
            Err(e) => failures.push(Failure::Malformed(id, e)),
        }
    }
    Ok((objects, failures))
}

/// The bytes of a file here, which must be those of the committed one.
fn same_bytes(root: &Path, path: &Path, committed: Id) -> Result<Vec<u8>, Failure> {
    let here = Object { kind: Kind::Blob, body: read_inside(root, path)? };
    let found = here.id().map_err(|e| Failure::Malformed(committed, e))?;
    if found != committed {
        let file = path.display().to_string();
        return Err(Failure::FileDiffers { file, found, expected: committed });
    }
    Ok(here.body)
}

struct Chain<'a> {
    objects: &'a BTreeMap<Id, Object>,
    used: BTreeSet<Id>,
}

impl<'a> Chain<'a> {
    /// Follows the chain to the file, and tells whether the committed path is here too.
    fn check(&mut self, proof: &Proof, root: &Path) -> Result<(Commit, bool), Failure> {
        if let Some(tag) = &proof.tag {
            let object = self.get(tag.object, "the tag")?;
            let said = object.tag().map_err(|e| Failure::Malformed(tag.object, e))?;
            let (name, commit) = (tag.name.clone(), proof.commit);
            if said.name != name {
                return Err(Failure::TagName { found: said.name, expected: name });
            }
            if said.target != commit {
                return Err(Failure::MovedTag { name, target: said.target, commit });
            }
        }
        let commit = self.commit(proof.commit, "the commit")?;
        let blob = self.blob_at(commit.tree, &proof.file)?;
        self.get(blob, "the file")?;
        let file = same_bytes(root, &proof.published(), blob)?;
        let committed = Path::new(&proof.file);
        // Another place holds the bytes; where this one is here too, it must not say otherwise.
        let file_is_here = root.join(committed).symlink_metadata().is_ok();
        if file_is_here {
            same_bytes(root, committed, blob)?;
        }
        let found = sha256_hex(&file);
        if found != proof.sha256 {
            return Err(Failure::Sha256 { found, expected: proof.sha256.clone() });
        }
        if let Some(push) = &proof.push {
            self.descends(push.head, proof.commit)?;
        }
        Ok((commit, file_is_here))
    }

    fn get(&mut self, id: Id, what: &'static str) -> Result<&'a Object, Failure> {
        self.used.insert(id);
        self.objects.get(&id).ok_or(Failure::Missing(id, what))
    }

    fn commit(&mut self, id: Id, what: &'static str) -> Result<Commit, Failure> {
        self.get(id, what)?.commit().map_err(|e| Failure::Malformed(id, e))
    }

    /// The blob a path leads to from a root tree.
    fn blob_at(&mut self, root: Id, path: &str) -> Result<Id, Failure> {
        let (mut at, mut parts) = (root, path.split('/').peekable());
        while let Some(part) = parts.next() {
            let tree = self.get(at, "a folder of the tree")?;
            let entries = tree.tree().map_err(|e| Failure::Malformed(at, e))?;
            let last = parts.peek().is_none();
            let entry = entries.into_iter().find(|e| e.name == part.as_bytes());
            let entry = entry.filter(|e| if last { e.is_file } else { e.is_tree });
            at = entry.ok_or_else(|| Failure::NotInTree(path.to_owned()))?.id;
        }
        Ok(at)
    }

    /// Whether `head` is `commit` or leads back to it through the commits at hand.
    fn descends(&mut self, head: Id, commit: Id) -> Result<(), Failure> {
        let (mut open, mut seen) = (vec![head], BTreeSet::new());
        while let Some(id) = open.pop() {
            if id == commit {
                return Ok(());
            }
            if seen.insert(id) && self.objects.contains_key(&id) {
                open.extend(self.commit(id, "the push")?.parents);
            }
        }
        Err(Failure::NotPushed { head, commit })
    }
}

/// The times, their order, and the verdict.
fn judged(proof: Proof, committed_unix: i64, file_is_here: bool) -> Result<Verified, Failure> {
    let unix = |text: &String| time::parse(text).map_err(Failure::Time);
    let pushed_unix = proof.push.as_ref().map(|p| unix(&p.time)).transpose()?;
    let first_job = proof.jobs.as_ref().map(|j| unix(&j.first_submitted));
    let first_job_unix = first_job.transpose()?;
    if let Some(early) = pushed_unix.map(|p| committed_unix - p).filter(|s| *s > CLOCK_SKEW_S) {
        return Err(Failure::PushedBeforeCommit(time::span(early)));
    }
    let verdict = Verdict::of(committed_unix, pushed_unix, first_job_unix);
    // A late registration is none, whatever it claims.
    let claim = proof.claim.unwrap_or(Verdict::Registered);
    let pending = verdict == Verdict::Pending && proof.claim.is_none();
    if verdict == Verdict::Late || (!pending && !verdict.bears_out(claim)) {
        let or_unknown = |t: Option<i64>| t.map_or_else(|| "unknown".into(), time::utc);
        return Err(Failure::Verdict {
            verdict: verdict.word(),
            claim: claim.word(),
            committed: time::utc(committed_unix),
            pushed: or_unknown(pushed_unix),
            job: or_unknown(first_job_unix),
        });
    }
    Ok(Verified { proof, file_is_here, committed_unix, pushed_unix, first_job_unix, verdict })
}
