//! Repositories as git leaves them: loose, packed with either kind of delta, bare,
//! shared, in a linked worktree.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use trapcheck::provenance::Repository;
use trapcheck::provenance::export::{Request, export};
use trapcheck::provenance::object::{Id, Kind};

use crate::provenance::fixture::{COMMITTED_UNIX, Project, git, request};

/// A project with a long file in many versions, which a pack holds as deltas. A delta
/// copies at most 64 KiB at once: the file is longer.
fn with_versions() -> Project {
    let project = Project::new();
    let mut state = 1_u64;
    let mut lines: Vec<String> = (0..6000_u64)
        .map(|i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i);
            format!("line {i} {state:016x}\n")
        })
        .collect();
    for version in 0..12_usize {
        lines[version * 30] = format!("changed in version {version}\n");
        project.write("long.txt", &lines.concat()).commit("A version", COMMITTED_UNIX + 100);
    }
    project
}

/// Reads every object git knows of; each checks its own name.
fn read_all(dir: &Path) -> usize {
    let listed = git(dir, COMMITTED_UNIX, &["cat-file", "--batch-all-objects", "--batch-check"]);
    let repository = Repository::open(dir).expect("a repository");
    for line in listed.lines() {
        let parts: Vec<&str> = line.split(' ').collect();
        let id: Id = parts[0].parse().expect("a name");
        let object = repository.object(id).unwrap_or_else(|e| panic!("{line}: {e}"));
        assert_eq!(
            (object.kind.word(), object.body.len().to_string().as_str()),
            (parts[1], parts[2])
        );
    }
    listed.lines().count()
}

fn deltas(project: &Project) -> usize {
    let dir = project.path(".git/objects/pack");
    let packs = fs::read_dir(dir).expect("packs").filter_map(Result::ok).map(|e| e.path());
    let index = packs.filter(|p| p.extension().is_some_and(|e| e == "idx")).last().expect("a pack");
    let listed = project.git(&["verify-pack", "-v", index.to_str().expect("UTF-8")]);
    // A delta's line names, after size and offset, its depth and its base.
    listed.lines().filter(|line| line.split_whitespace().count() == 7).count()
}

#[test]
fn every_object_is_read_loose_and_packed() {
    let project = with_versions();
    let loose = read_all(project.dir());
    assert!(loose > 50);
    project.git(&["gc", "--quiet", "--aggressive", "--prune=now"]);
    assert!(deltas(&project) > 5, "the pack has deltas");
    assert_eq!(read_all(project.dir()), loose);
    // Deltas that name their base instead of its place.
    project.git(&["-c", "repack.useDeltaBaseOffset=false", "repack", "--quiet", "-a", "-d", "-f"]);
    assert!(deltas(&project) > 5, "the pack has deltas");
    assert_eq!(read_all(project.dir()), loose);
}

#[test]
fn a_packed_repository_gives_the_same_proof() {
    let project = with_versions();
    let proof = project.proof();
    let read = || {
        let mut paths = proof.objects();
        paths.push(proof.dir.join("proof.yaml"));
        paths.into_iter().map(|p| (p.clone(), fs::read(p).expect("a file"))).collect::<Vec<_>>()
    };
    let loose = read();
    fs::remove_dir_all(&proof.dir).expect("a folder");
    project.git(&["pack-refs", "--all"]);
    project.git(&["gc", "--quiet", "--prune=now"]);
    project.proof();
    assert_eq!(read(), loose);
}

#[test]
fn bare_shared_and_linked_repositories_are_read() {
    let project = with_versions();
    let elsewhere = TempDir::new().expect("a temporary directory");
    let there = |name: &str| elsewhere.path().join(name);
    let from = project.dir().to_str().expect("UTF-8");
    for (name, how) in [("bare", "--bare"), ("shared", "--shared")] {
        git(elsewhere.path(), COMMITTED_UNIX, &["clone", "--quiet", how, from, name]);
        let objects = read_all(&there(name));
        assert!(objects > 50 || name == "shared", "{name}: {objects}");
    }
    let linked = there("linked");
    project.git(&["worktree", "add", "--quiet", "-b", "side", linked.to_str().expect("UTF-8")]);
    let expected = project.id("mirror-reg");
    for name in ["bare", "shared", "linked"] {
        let repository = Repository::open(&there(name)).expect("a repository");
        assert_eq!(repository.resolve("mirror-reg"), Ok(expected), "{name}");
        assert_eq!(repository.commit_of(expected), Ok(project.id("mirror-reg^{commit}")), "{name}");
        assert_eq!(repository.resolve("HEAD"), Ok(project.id("main")), "{name}");
        assert!(repository.object(expected).is_ok_and(|o| o.kind == Kind::Tag), "{name}");
    }
}

#[test]
fn a_lightweight_tag_is_its_commit() {
    let project = Project::new();
    project.git(&["tag", "light", "mirror-reg^{commit}"]);
    let proof = project.proof_of(&Request { revision: "light".into(), ..request() });
    assert_eq!((proof.read().tag, proof.read().commit), (None, project.id("light")));
    proof.sound();
}

#[test]
fn a_damaged_object_is_an_error_and_no_proof() {
    let project = Project::new();
    let name = project.id("mirror-reg").to_string();
    let path = project.path(".git/objects").join(&name[..2]).join(&name[2..]);
    let other = project.id("main").to_string();
    let other = project.path(".git/objects").join(&other[..2]).join(&other[2..]);
    fs::remove_file(&path).expect("it is loose");
    fs::copy(other, &path).expect("copied");
    let repository = Repository::open(project.dir()).expect("a repository");
    let error = export(&repository, &request(), &project.path("proof")).expect_err("damaged");
    assert!(error.to_string().contains("damaged: it hashes to"), "{error}");
    assert!(!project.path("proof").exists() && !project.path("proof.tmp").exists());
}

#[test]
fn a_proof_is_made_beside_whatever_else_lies_there() {
    let project = Project::new();
    project.write("proof.tmp/notes", "kept");
    let repository = Repository::open(project.dir()).expect("a repository");
    export(&repository, &request(), &project.path("proof")).expect("a proof");
    assert!(project.path("proof/proof.yaml").is_file());
    assert_eq!(fs::read_to_string(project.path("proof.tmp/notes")).ok().as_deref(), Some("kept"));
    let mine = fs::read_dir(project.dir()).expect("readable").flatten();
    let left = mine.filter(|e| e.file_name().to_string_lossy().starts_with(".trapcheck-")).count();
    assert_eq!(left, 0);
}

#[test]
fn a_damaged_pack_is_an_error_wherever_it_is_damaged() {
    let project = with_versions();
    project.git(&["gc", "--quiet", "--aggressive", "--prune=now"]);
    let dir = project.path(".git/objects/pack");
    let packs = fs::read_dir(dir).expect("packs").filter_map(Result::ok).map(|e| e.path());
    let path = packs.filter(|p| p.extension().is_some_and(|e| e == "pack")).last().expect("a pack");
    let sound = fs::read(&path).expect("a pack");
    let (id, tag) = (project.id("main:long.txt"), project.id("mirror-reg"));
    let read = |id: Id| Repository::open(project.dir()).and_then(|r| r.object(id));
    let intact = [id, tag].map(|id| read(id).expect("it is there"));
    // git leaves packs read-only.
    fs::remove_file(&path).expect("it is there");
    let mut refused = 0;
    for at in (12..sound.len()).step_by(sound.len() / 150) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x55;
        fs::write(&path, damaged).expect("writable");
        // Another object's bytes may be hit; never does it come out different.
        let came_out = [id, tag].map(read);
        refused += came_out.iter().filter(|object| object.is_err()).count();
        let sound = came_out
            .iter()
            .zip(&intact)
            .all(|(o, i)| o.as_ref().is_ok_and(|o| o == i) || o.is_err());
        assert!(sound, "byte {at}");
    }
    assert!(refused > 10, "only {refused} were refused");
    fs::write(&path, b"PACK").expect("writable");
    assert!([id, tag].map(read).iter().all(Result::is_err));
}

#[test]
fn what_is_not_there_is_named() {
    let project = Project::new();
    let repository = Repository::open(project.dir()).expect("a repository");
    let fails = |request: Request, words: &str| {
        let error = export(&repository, &request, &project.path("proof")).expect_err("not there");
        assert!(error.to_string().contains(words), "{error}");
    };
    fails(
        Request { revision: "r99".into(), ..request() },
        "no tag, branch or commit named \"r99\"",
    );
    fails(Request { revision: "../../x".into(), ..request() }, "no tag, branch or commit");
    fails(Request { revision: "--all".into(), ..request() }, "no tag, branch or commit");
    fails(
        Request { published: Some("../copy.yaml".into()), ..request() },
        "../copy.yaml is outside the project",
    );
    fails(
        Request { file: "configs/none.yaml".into(), ..request() },
        "configs/none.yaml is not in commit",
    );
    fails(Request { file: "configs".into(), ..request() }, "configs is not a file of commit");
    fails(Request { revision: "0".repeat(40), ..request() }, "there is no object 0000");
    let push = |time: &str, head: &str| Some((time.to_owned(), Some(head.to_owned()), None));
    fails(
        Request { push: push("2026-11-05 14:07:35 CST", "main~9"), ..request() },
        "no tag, branch or commit",
    );
    let before = project.id("main~3").to_string();
    fails(
        Request { push: push("2026-11-05 14:07:35 CST", &before), ..request() },
        "does not lead back",
    );
    fails(Request { push: push("yesterday", "main"), ..request() }, "expected YYYY-MM-DD");
    let nowhere = TempDir::new().expect("a temporary directory");
    let error = Repository::open(nowhere.path()).expect_err("no repository");
    assert!(error.message.contains("not a git repository"));
}

#[test]
fn a_proof_is_never_overwritten() {
    let project = Project::new();
    project.proof();
    let repository = Repository::open(project.dir()).expect("a repository");
    let again = export(&repository, &request(), &project.path("provenance/mirror"));
    assert!(again.expect_err("it is there").to_string().contains("already there"));
}

/// A bare repository with one pack, of these entries: a name and the packed bytes.
fn with_pack(entries: &[([u8; 20], Vec<u8>)]) -> TempDir {
    let dir = TempDir::new().expect("a temporary directory");
    git(dir.path(), COMMITTED_UNIX, &["init", "--quiet", "--bare"]);
    let mut pack =
        [&b"PACK"[..], &2_u32.to_be_bytes(), &(entries.len() as u32).to_be_bytes()].concat();
    let mut offsets = Vec::new();
    for (_, bytes) in entries {
        offsets.push(pack.len() as u32);
        pack.extend(bytes);
    }
    let sum = sha1(&pack);
    pack.extend(sum);
    // The index: how many names begin with at most each byte, names, checksums, offsets.
    let mut index = [&b"\xfftOc"[..], &2_u32.to_be_bytes()].concat();
    for first in 0..=255 {
        let until = entries.iter().filter(|(name, _)| name[0] <= first).count() as u32;
        index.extend(until.to_be_bytes());
    }
    index.extend(entries.iter().flat_map(|(name, _)| *name));
    index.extend(entries.iter().flat_map(|_| [0; 4]));
    index.extend(offsets.iter().flat_map(|at| at.to_be_bytes()));
    index.extend(sum);
    index.extend(sha1(&index.clone()));
    let place = |ending: &str| dir.path().join(format!("objects/pack/pack-{}.{ending}", hex(&sum)));
    fs::write(place("pack"), pack).expect("writable");
    fs::write(place("idx"), index).expect("writable");
    dir
}

/// A packed entry's head: its kind and the size of its data.
fn entry(kind: u8, mut size: usize) -> Vec<u8> {
    let mut head = vec![kind << 4 | (size & 15) as u8];
    size >>= 4;
    while size > 0 {
        *head.last_mut().expect("a byte") |= 0x80;
        head.push((size & 0x7f) as u8);
        size >>= 7;
    }
    head
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packer, bytes).expect("in memory");
    packer.finish().expect("in memory")
}

fn sha1(bytes: &[u8]) -> [u8; 20] {
    let digest = sha1_checked::Sha1::try_digest(bytes);
    (*digest.hash()).into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_pack_whose_delta_is_its_own_base_is_refused() {
    let name = [0x11; 20];
    // From five bytes to five: copy them all.
    let delta = [5, 5, 0x90, 5];
    let bytes = [&entry(7, delta.len())[..], &name, &packed(&delta)].concat();
    let dir = with_pack(&[(name, bytes)]);
    let repository = Repository::open(dir.path()).expect("a repository");
    let id = hex(&name).parse().expect("a name");
    let error = repository.object(id).expect_err("it has no base");
    assert!(error.message.contains("git cannot read object 1111"), "{error}");
    // The next question is answered all the same.
    let error = repository.object("2".repeat(40).parse().expect("a name")).expect_err("none");
    assert!(error.message.contains("there is no object 2222"), "{error}");
}

#[test]
fn a_small_pack_that_asks_for_much_memory_is_refused() {
    // Each entry is the one before it, sixteen times over: 16 MiB, 256 MiB, 4 GiB.
    let mut entries =
        vec![([1; 20], [&entry(3, 1 << 20)[..], &packed(&vec![0; 1 << 20])].concat())];
    let mut size = 1_usize << 20;
    for i in 2..=4 {
        let number = |n: usize| {
            let mut bytes = vec![(n & 0x7f) as u8];
            let mut rest = n >> 7;
            while rest > 0 {
                *bytes.last_mut().expect("a byte") |= 0x80;
                bytes.push((rest & 0x7f) as u8);
                rest >>= 7;
            }
            bytes
        };
        // A copy takes at most 0xff_ffff bytes.
        let run = size.min(0xff_ffff);
        let copies: Vec<u8> = [0xf0, run as u8, (run >> 8) as u8, (run >> 16) as u8].repeat(16);
        let delta = [number(size), number(run * 16), copies].concat();
        let base = entries[i - 2].0;
        let bytes = [&entry(7, delta.len())[..], &base, &packed(&delta)].concat();
        entries.push(([i as u8; 20], bytes));
        size = run * 16;
    }
    let bytes: usize = entries.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(bytes < 2_000, "a small pack: {bytes}");
    let dir = with_pack(&entries);
    let repository = Repository::open(dir.path()).expect("a repository");
    for i in 3..=4_u8 {
        let id = hex(&[i; 20]).parse().expect("a name");
        let error = repository.object(id).expect_err("it is large");
        let said = ["a proof takes 67108864 at most", "git cannot read object"];
        assert!(said.iter().any(|words| error.message.contains(words)), "{error}");
    }
    // What is small enough is read, and is not what its name says.
    let error =
        repository.object(hex(&[2; 20]).parse().expect("a name")).expect_err("a false name");
    assert!(error.message.contains("is damaged: it hashes to"), "{error}");
}

#[test]
fn a_replaced_object_is_read_as_it_was() {
    let project = Project::new();
    let (was, other) = (project.id("main"), project.id("main~1"));
    project.git(&["replace", &was.to_string(), &other.to_string()]);
    let repository = Repository::open(project.dir()).expect("a repository");
    assert_eq!(repository.object(was).map(|o| o.id()), Ok(Ok(was)));
}

#[test]
fn a_repository_of_sha_256_names_is_named_as_one() {
    let dir = TempDir::new().expect("a temporary directory");
    git(dir.path(), COMMITTED_UNIX, &["init", "--quiet", "--object-format=sha256"]);
    git(dir.path(), COMMITTED_UNIX, &["commit", "--quiet", "--allow-empty", "-m", "Begin"]);
    let repository = Repository::open(dir.path()).expect("a repository");
    let error = repository.resolve("HEAD").expect_err("other names");
    assert!(error.message.contains("SHA-256 names, which are not read"), "{error}");
}
