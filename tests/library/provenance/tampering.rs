//! Whatever is changed, the proof fails and says where.

use std::fs;

use trapcheck::provenance::object::{Id, Kind, Object};
use trapcheck::provenance::{Failure, TagRef};

use crate::provenance::fixture::{Exported, FILE, Project};

#[test]
fn an_untouched_proof_holds() {
    let project = Project::new();
    let proof = project.proof();
    assert_eq!(proof.sound().proof.commit, project.id("mirror-reg^{commit}"));
    // Tag, three commits from the push back, three folders and the file.
    assert_eq!(proof.objects().len(), 8);
}

#[test]
fn a_changed_byte_of_any_object_is_found() {
    let project = Project::new();
    let proof = project.proof();
    for path in proof.objects() {
        let sound = fs::read(&path).expect("it is there");
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
        for at in 0..sound.len() {
            let mut changed = sound.clone();
            changed[at] ^= 1;
            fs::write(&path, changed).expect("it is writable");
            let failures = proof.verify().expect_err("a byte was changed");
            let named = |f: &Failure| matches!(f, Failure::Changed { name: n, .. } if *n == name);
            assert!(failures.iter().any(named), "byte {at} of {name}: {failures:?}");
        }
        for changed in [&sound[..sound.len() - 1], &[&sound[..], b"\n"].concat(), b""] {
            fs::write(&path, changed).expect("it is writable");
            proof.fails("its bytes hash to");
        }
        fs::write(&path, sound).expect("it is writable");
    }
    proof.sound();
}

#[test]
fn a_changed_byte_of_the_registered_file_is_found() {
    let project = Project::new();
    let proof = project.proof();
    let sound = fs::read(project.path(FILE)).expect("it is there");
    for at in 0..sound.len() {
        let mut changed = sound.clone();
        changed[at] ^= 1;
        fs::write(project.path(FILE), changed).expect("it is writable");
        proof.fails("mirror.yaml differs from the committed file");
    }
    fs::write(project.path(FILE), [&sound[..], b"\n"].concat()).expect("it is writable");
    proof.fails("mirror.yaml differs from the committed file");
    fs::remove_file(project.path(FILE)).expect("it is there");
    proof.fails("cannot read configs/registrations/mirror.yaml");
}

#[test]
fn an_object_that_is_missing_breaks_the_chain() {
    let project = Project::new();
    let proof = project.proof();
    for path in proof.objects() {
        let sound = fs::read(&path).expect("it is there");
        fs::remove_file(&path).expect("it is there");
        let reasons = proof.reasons();
        let said = reasons.contains("is missing") || reasons.contains("does not lead back");
        assert!(said, "{}: {reasons}", path.display());
        fs::write(&path, sound).expect("it is writable");
    }
    proof.sound();
}

#[test]
fn an_object_no_chain_leads_to_is_named() {
    let project = Project::new();
    let proof = project.proof();
    let id = proof.add(&Object { kind: Kind::Blob, body: b"something else".into() });
    proof.fails(&format!("objects/{id}: not a part of the chain"));
}

/// Puts another root folder under the commit, with every name made right again: what
/// a forger would do who owns the proof, but not the history.
fn with_root(proof: &Exported<'_>, root: &Object) {
    let before = proof.read();
    let commit = proof.object(before.commit);
    let old_root = commit.commit().expect("a commit").tree;
    let new_root = proof.add(root);
    let text = String::from_utf8(commit.body).expect("UTF-8");
    let text = text.replace(&old_root.to_string(), &new_root.to_string());
    let new = proof.add(&Object { kind: Kind::Commit, body: text.into_bytes() });
    proof.drop_object(old_root);
    // Tag and push lead to the commit that was; a forger leaves them out.
    for path in proof.objects() {
        let id: Id =
            path.file_name().and_then(|n| n.to_str()).expect("a name").parse().expect("a name");
        if matches!(proof.object(id).kind, Kind::Commit | Kind::Tag) && id != new {
            proof.drop_object(id);
        }
    }
    proof.edit(|p| (p.commit, p.tag, p.push, p.claim) = (new, None, None, None));
}

#[test]
fn a_tree_in_another_order_is_found_with_and_without_new_names() {
    let project = Project::new();
    let proof = project.proof();
    let root = proof.object(proof.read().commit).commit().expect("a commit").tree;
    let tree = proof.object(root);
    // README.md, then configs: two entries, the second a folder.
    let second = tree.body.windows(6).position(|w| w == b"40000 ").expect("a folder");
    let swapped = [&tree.body[second..], &tree.body[..second]].concat();
    let swapped = Object { kind: Kind::Tree, body: swapped };
    assert_ne!(swapped.id(), tree.id());
    let path = proof.dir.join("objects").join(root.to_string());
    fs::write(&path, swapped.framed()).expect("it is writable");
    proof.fails(&format!("objects/{root}: its bytes hash to"));
    fs::write(&path, tree.framed()).expect("it is writable");
    with_root(&proof, &swapped);
    proof.fails("tree entries out of order: \"README.md\" after \"configs\"");
}

#[test]
fn a_commit_that_lacks_the_file_is_found() {
    let project = Project::new();
    let proof = project.proof();
    let root = proof.object(proof.read().commit).commit().expect("a commit").tree;
    let tree = proof.object(root);
    let folder = tree.body.windows(6).position(|w| w == b"40000 ").expect("a folder");
    with_root(&proof, &Object { kind: Kind::Tree, body: tree.body[..folder].to_vec() });
    proof.fails("configs/registrations/mirror.yaml is not a file of the commit's tree");
}

#[test]
fn a_tree_with_a_file_and_a_folder_of_one_name_is_found() {
    let project = Project::new();
    let proof = project.proof();
    let root = proof.object(proof.read().commit).commit().expect("a commit").tree;
    let mut tree = proof.object(root);
    let folder = tree.body.windows(6).position(|w| w == b"40000 ").expect("a folder");
    let file = [&b"100644 configs\0"[..], &[7; 20]].concat();
    tree.body.splice(folder..folder, file);
    with_root(&proof, &tree);
    proof.fails("two tree entries named \"configs\"");
}

/// Puts another commit in the place of the one that was pushed, with its name made right.
fn with_head(proof: &Exported<'_>, change: impl Fn(&str) -> String) {
    let head = proof.read().push.expect("a push").head;
    let text = String::from_utf8(proof.object(head).body).expect("UTF-8");
    let new = proof.add(&Object { kind: Kind::Commit, body: change(&text).into_bytes() });
    proof.drop_object(head);
    proof.edit(|p| p.push.as_mut().expect("a push").head = new);
}

#[test]
fn a_parent_that_git_does_not_read_leads_nowhere() {
    let project = Project::new();
    let proof = project.proof();
    with_head(&proof, |text| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let parent = lines.iter().position(|l| l.starts_with("parent ")).expect("a parent");
        let mut moved = lines.clone();
        let line = moved.remove(parent);
        let after = moved.iter().position(|l| l.starts_with("committer ")).expect("a committer");
        moved.insert(after + 1, line);
        moved.concat()
    });
    proof.fails("a parent line where git reads none");
    // Git agrees: the pushed commit has no parent.
    let head = proof.read().push.expect("a push").head;
    let path = proof.dir.join("objects").join(head.to_string());
    let body = proof.object(head).body;
    fs::write(&path, &body).expect("it is writable");
    let path = path.to_str().expect("UTF-8");
    let written = project.git(&["hash-object", "-t", "commit", "-w", "--literally", path]);
    assert_eq!(written.trim(), head.to_string());
    assert_eq!(project.git(&["rev-list", "--count", written.trim()]).trim(), "1");
}

#[test]
fn a_time_no_calendar_shows_is_refused() {
    let project = Project::new();
    let proof = project.proof();
    let times = ["-9223372036854775808", "9223372036854775807", "253402300800"];
    for time in times {
        let before = proof.read();
        let commit = proof.object(before.commit);
        let text = String::from_utf8(commit.body).expect("UTF-8");
        let was = text.lines().find(|l| l.starts_with("committer ")).expect("a committer");
        let (who, _) = was.split_once("> ").expect("a mail");
        let text = text.replace(was, &format!("{who}> {time} -0600"));
        let new = proof.add(&Object { kind: Kind::Commit, body: text.into_bytes() });
        proof.edit(|p| (p.commit, p.tag, p.push, p.claim) = (new, None, None, None));
        let reasons = proof.reasons();
        let said = ["after the year 9999", "whole seconds since 1970"];
        assert!(said.iter().any(|words| reasons.contains(words)), "{time}: {reasons}");
        proof.write(&before);
        proof.drop_object(new);
    }
    proof.sound();
}

#[test]
fn a_file_outside_the_project_proves_nothing_about_it() {
    let project = Project::new();
    let proof = project.proof();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let copy = elsewhere.path().join("copy.yaml");
    fs::copy(project.path(FILE), &copy).expect("a copy");
    let inside = format!("configs/../{FILE}");
    for path in [copy.to_str().expect("UTF-8"), "../copy.yaml", &inside, ""] {
        proof.edit(|p| p.published = Some(path.into()));
        proof.fails("is outside the project");
    }
    std::os::unix::fs::symlink(&copy, project.path("link.yaml")).expect("a link");
    proof.edit(|p| p.published = Some("link.yaml".into()));
    proof.fails("link.yaml is outside the project");
}

#[test]
fn a_path_that_is_no_file_of_the_tree_is_found() {
    let project = Project::new();
    let proof = project.proof();
    for path in ["configs", "configs/registrations", "/README.md", "configs//a.yaml", "../x", ""] {
        proof.edit(|p| (p.file, p.published) = (path.into(), Some(FILE.into())));
        proof.fails("is not a file of the commit's tree");
    }
}

#[test]
fn a_moved_tag_is_found() {
    let project = Project::new();
    let proof = project.proof();
    let (was, commit) = (proof.read().tag.expect("a tag"), proof.read().commit);
    project.git(&["tag", "--force", "-a", "-m", "Registration", "mirror-reg", "main"]);
    let moved = project.id("mirror-reg");
    let repository = trapcheck::provenance::Repository::open(project.dir()).expect("a repository");
    proof.add(&repository.object(moved).expect("it is there"));
    proof.drop_object(was.object);
    proof.edit(|p| p.tag = Some(TagRef { name: "mirror-reg".into(), object: moved }));
    let main = project.id("main");
    proof.fails(&format!(
        "tag mirror-reg was moved: it points at {main}, not at the commit {commit}"
    ));
}

#[test]
fn a_tag_under_another_name_is_found() {
    let project = Project::new();
    let proof = project.proof();
    proof.edit(|p| p.tag.as_mut().expect("a tag").name = "r15-reg".into());
    proof.fails("the tag object is named mirror-reg, not r15-reg");
}

#[test]
fn an_object_of_another_kind_in_the_place_of_a_tag_is_found() {
    let project = Project::new();
    let proof = project.proof();
    let commit = proof.read().commit;
    proof.edit(|p| p.tag.as_mut().expect("a tag").object = commit);
    proof.fails("expected a tag, found a commit");
}

#[test]
fn another_hash_of_the_file_is_found() {
    let project = Project::new();
    let proof = project.proof();
    proof.edit(|p| p.sha256 = p.sha256.replace(['0', '1', '2', '3'], "4"));
    proof.fails("the file's SHA-256 is");
}

#[test]
fn a_push_of_another_history_is_found() {
    let project = Project::new();
    let proof = project.proof();
    let before = project.id("main~3");
    proof.edit(|p| p.push.as_mut().expect("a push").head = before);
    proof.fails("does not lead back to the commit");
}

#[test]
fn a_proof_that_is_not_in_the_format_is_a_failure_with_its_line() {
    let project = Project::new();
    let proof = project.proof();
    let text = fs::read_to_string(proof.dir.join("proof.yaml")).expect("a text");
    let fails = |text: String, words: &str| {
        fs::write(proof.dir.join("proof.yaml"), text).expect("it is writable");
        proof.fails(words);
    };
    fails(text.replace("format: 1", "format: 2"), "format: expected 1, found 2");
    fails(text.replace("commit: \"", "commit: \"x"), "expected 40 hexadecimal digits");
    fails(format!("{text}verdict: good\n"), "unknown field `verdict`");
    fails(format!("{text}file: x\n"), "duplicate");
    fails(text.replace("file:", "# file:"), "missing field `file`");
    fs::write(proof.dir.join("proof.yaml"), &text).expect("it is writable");
    fs::remove_dir_all(proof.dir.join("objects")).expect("a folder");
    proof.fails("cannot read");
}
