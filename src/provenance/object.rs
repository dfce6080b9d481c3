//! Git objects: their names, and what a commit, a tree and an annotated tag say.
//!
//! An object's name is the SHA-1 of its kind, its length and its bytes, so a proof
//! that keeps those needs no repository to be checked. SHA-1 repositories only.
//!
//! An object is read as git reads it, and refused where `git fsck` would object or git
//! would pass over what is written: nobody may see another history here than git shows.

mod head;
mod id;

use std::collections::BTreeSet;

use head::{Head, is_ref_name, signature};

use super::Malformed;
pub use id::Id;

/// What kind of object it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file's bytes.
    Blob,
    /// A folder.
    Tree,
    /// A commit.
    Commit,
    /// An annotated tag.
    Tag,
}

/// An object: its kind and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its kind.
    pub kind: Kind,
    /// Its bytes, without the frame.
    pub body: Vec<u8>,
}

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// Its file name.
    pub name: Vec<u8>,
    /// Whether it is a folder.
    pub is_tree: bool,
    /// Whether it is a file (not a link, not a submodule).
    pub is_file: bool,
    /// The object it names.
    pub id: Id,
}

/// What a commit says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its root folder.
    pub tree: Id,
    /// The commits before it.
    pub parents: Vec<Id>,
    /// When it was made, by the committer's own clock, Unix seconds.
    pub committed_unix: i64,
}

/// What an annotated tag says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The object it points at.
    pub target: Id,
    /// Its name.
    pub name: String,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Blob, Self::Tree, Self::Commit, Self::Tag];

    /// The kind of a word in an object's frame.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The word in an object's frame.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
            Self::Tag => "tag",
        }
    }
}

impl Object {
    /// The bytes git hashes: kind, length, a zero byte, and the object's own.
    pub fn framed(&self) -> Vec<u8> {
        let mut framed = format!("{} {}\0", self.kind.word(), self.body.len()).into_bytes();
        framed.extend(&self.body);
        framed
    }

    /// The object in framed bytes.
    ///
    /// # Errors
    /// There is no frame, or it does not fit what follows.
    pub fn parse(framed: &[u8]) -> Result<Self, Malformed> {
        let wrong = |why: &str| Malformed(format!("not a git object: {why}"));
        let end = framed.iter().position(|b| *b == 0).ok_or_else(|| wrong("no frame"))?;
        let head = std::str::from_utf8(&framed[..end]).map_err(|_| wrong("no frame"))?;
        let (word, length) = head.split_once(' ').ok_or_else(|| wrong("no frame"))?;
        let kind = Kind::of(word).ok_or_else(|| wrong("unknown kind"))?;
        let body = framed[end + 1..].to_vec();
        // Written as git writes it: no sign, no zeros before.
        if length != body.len().to_string() {
            return Err(wrong("its length is not the one in its frame"));
        }
        Ok(Self { kind, body })
    }

    /// Its name.
    ///
    /// # Errors
    /// As [`Id::of`].
    pub fn id(&self) -> Result<Id, Malformed> {
        Id::of(&self.framed())
    }

    fn expect(&self, kind: Kind) -> Result<&[u8], Malformed> {
        if self.kind == kind {
            return Ok(&self.body);
        }
        Err(Malformed(format!("expected a {}, found a {}", kind.word(), self.kind.word())))
    }

    /// The entries of a tree.
    ///
    /// # Errors
    /// It is no tree, or not one that git would have written: entries out of order, a name
    /// there twice or no file name, a mode that git does not know.
    pub fn tree(&self) -> Result<Vec<TreeEntry>, Malformed> {
        let mut rest = self.expect(Kind::Tree)?;
        let mut entries: Vec<TreeEntry> = Vec::new();
        // A file and a folder of one name need not be neighbours: "a.b" sorts between them.
        let mut names = BTreeSet::new();
        while !rest.is_empty() {
            let (entry, after) = tree_entry(rest)?;
            rest = after;
            let name = String::from_utf8_lossy(&entry.name).into_owned();
            let reserved = [".", "..", ".git"].iter().any(|r| name.eq_ignore_ascii_case(r));
            if name.is_empty() || name.contains('/') || reserved {
                return Err(Malformed(format!("a tree entry named {name:?}")));
            }
            if let Some(before) = entries.last()
                && order(before) > order(&entry)
            {
                let before = String::from_utf8_lossy(&before.name);
                let message = format!("tree entries out of order: {name:?} after {before:?}");
                return Err(Malformed(message));
            }
            if !names.insert(entry.name.clone()) {
                return Err(Malformed(format!("two tree entries named {name:?}")));
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// What a commit says.
    ///
    /// # Errors
    /// It is no commit, or its head is not tree, parents, author and committer in this order.
    pub fn commit(&self) -> Result<Commit, Malformed> {
        let mut head = Head::of(self.expect(Kind::Commit)?)?;
        let tree = id(head.expect("tree")?)?;
        let mut parents = Vec::new();
        while let Some(parent) = head.next("parent") {
            parents.push(id(parent)?);
        }
        signature("author", head.expect("author")?)?;
        let committed_unix = signature("committer", head.expect("committer")?)?;
        head.finish(&["tree", "parent", "author", "committer"])?;
        Ok(Commit { tree, parents, committed_unix })
    }

    /// What an annotated tag says.
    ///
    /// # Errors
    /// It is no tag of a commit, or its head is not object, type, tag and tagger in this order.
    pub fn tag(&self) -> Result<Tag, Malformed> {
        let mut head = Head::of(self.expect(Kind::Tag)?)?;
        let target = id(head.expect("object")?)?;
        let kind = head.expect("type")?;
        if kind != b"commit" {
            let kind = String::from_utf8_lossy(kind);
            return Err(Malformed(format!("a tag of {kind:?}, not of a commit")));
        }
        let name = String::from_utf8_lossy(head.expect("tag")?).into_owned();
        if !is_ref_name(&name) {
            return Err(Malformed(format!("{name:?} is no name of a tag")));
        }
        // The oldest tags of git's own history name no tagger.
        if let Some(tagger) = head.next("tagger") {
            signature("tagger", tagger)?;
        }
        head.finish(&["object", "type", "tag", "tagger"])?;
        Ok(Tag { target, name })
    }
}

/// Git sorts a folder as if its name ended with a slash.
fn order(entry: &TreeEntry) -> Vec<u8> {
    let mut name = entry.name.clone();
    if entry.is_tree {
        name.push(b'/');
    }
    name
}

fn tree_entry(bytes: &[u8]) -> Result<(TreeEntry, &[u8]), Malformed> {
    let cut = || Malformed("a tree that ends inside an entry".into());
    let space = bytes.iter().position(|b| *b == b' ').ok_or_else(cut)?;
    let zero = bytes[space..].iter().position(|b| *b == 0).ok_or_else(cut)? + space;
    let id = bytes.get(zero + 1..zero + 21).and_then(Id::from_bytes).ok_or_else(cut)?;
    let (is_tree, is_file) = match &bytes[..space] {
        b"40000" => (true, false),
        // Group-writable: written by the first versions of git.
        b"100644" | b"100755" | b"100664" => (false, true),
        // A link, a submodule.
        b"120000" | b"160000" => (false, false),
        other => {
            let mode = String::from_utf8_lossy(other);
            return Err(Malformed(format!("a tree entry of mode {mode:?}, which git has not")));
        }
    };
    let entry = TreeEntry { name: bytes[space + 1..zero].to_vec(), is_tree, is_file, id };
    Ok((entry, &bytes[zero + 21..]))
}

fn id(digits: &[u8]) -> Result<Id, Malformed> {
    String::from_utf8_lossy(digits).parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(text: &str) -> Object {
        Object { kind: Kind::Blob, body: text.into() }
    }

    #[test]
    fn names_are_the_ones_git_gives() {
        // git hash-object on an empty file, and on "hello\n".
        let names = ["", "hello\n"].map(|text| blob(text).id().unwrap().to_string());
        assert_eq!(names[0], "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(names[1], "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn a_frame_that_does_not_fit_is_no_object() {
        assert_eq!(Object::parse(b"blob 2\0hi"), Ok(blob("hi")));
        for wrong in ["blob 3\0hi", "blob 02\0hi", "blob +2\0hi", "blub 2\0hi", "blob 2hi", ""] {
            assert!(Object::parse(wrong.as_bytes()).is_err(), "{wrong:?}");
        }
    }

    fn tree(entries: &[(&str, &str)]) -> Result<Vec<TreeEntry>, Malformed> {
        let mut body = Vec::new();
        for (mode, name) in entries {
            body.extend(format!("{mode} {name}\0").bytes());
            body.extend([7; 20]);
        }
        Object { kind: Kind::Tree, body }.tree()
    }

    #[track_caller]
    fn refused(entries: &[(&str, &str)], words: &str) {
        let error = tree(entries).expect_err("expected no tree").0;
        assert!(error.contains(words), "{words:?} is not in: {error}");
    }

    #[test]
    fn a_tree_out_of_order_is_no_tree() {
        // A folder "a" sorts as "a/", which is after "a.b" and before "a0".
        let sound = [("100644", "a.b"), ("40000", "a"), ("100644", "a0")];
        assert_eq!(tree(&sound).unwrap().len(), 3);
        refused(&[("40000", "a"), ("100644", "a.b")], "out of order");
    }

    #[test]
    fn a_tree_with_one_name_twice_is_no_tree() {
        refused(&[("100644", "a"), ("100644", "a")], "two tree entries named \"a\"");
        refused(&[("100644", "a"), ("40000", "a")], "two tree entries named \"a\"");
        // In order, and not neighbours.
        let apart = [("100644", "a"), ("100644", "a.b"), ("40000", "a")];
        refused(&apart, "two tree entries named \"a\"");
    }

    #[test]
    fn a_tree_with_a_name_or_mode_that_git_refuses_is_no_tree() {
        for name in ["", ".", "..", ".git", ".GIT", "a/b"] {
            refused(&[("100644", name)], "a tree entry named");
        }
        for mode in ["040000", "100600", "100666", "644", ""] {
            refused(&[(mode, "a")], "which git has not");
        }
        for mode in ["40000", "100644", "100755", "100664", "120000", "160000"] {
            assert!(tree(&[(mode, "a")]).is_ok(), "{mode}");
        }
        let cut = Object { kind: Kind::Tree, body: b"100644 a\0short".to_vec() };
        assert!(cut.tree().unwrap_err().0.contains("ends inside an entry"));
    }

    const ID: &str = "ce013625030ba8dba906f756967f9e9ca394464a";

    fn commit(lines: &[&str]) -> Result<Commit, Malformed> {
        let head: String = lines.iter().map(|l| format!("{}\n", l.replace("ID", ID))).collect();
        Object { kind: Kind::Commit, body: format!("{head}\nWords\n").into_bytes() }.commit()
    }

    #[test]
    fn a_commit_is_read_in_gits_order_only() {
        let sound = [
            "tree ID",
            "parent ID",
            "parent ID",
            "author A <a> 1 +0000",
            "committer B <b> 2 -0600",
        ];
        let read = commit(&sound).unwrap();
        assert_eq!((read.parents.len(), read.committed_unix), (2, 2));
        let signed = ["gpgsig -----BEGIN", " parent ID", " ", " end", "encoding x"];
        assert_eq!(commit(&[&sound[..], &signed[..]].concat()), Ok(read));
        for (from, to, words) in [
            (0, 1, "expected a tree line"),
            (1, 3, "expected a committer line"),
            (1, 4, "a parent line where git reads none"),
            (3, 4, "expected an author line"),
        ] {
            let mut lines = sound.to_vec();
            let line = lines.remove(from);
            lines.insert(to, line);
            let error = commit(&lines).expect_err("another order").0;
            assert!(error.contains(words), "{words:?} is not in: {error}");
        }
        for twice in ["tree ID", "parent ID", "author A <a> 1 +0000", "committer B <b> 2 -0600"] {
            let error = commit(&[&sound[..], &[twice]].concat()).expect_err("twice").0;
            assert!(error.contains("where git reads none"), "{error}");
        }
    }

    #[test]
    fn a_tag_is_read_in_gits_order_only() {
        let tag = |lines: &[&str]| {
            let head: String = lines.iter().map(|l| format!("{}\n", l.replace("ID", ID))).collect();
            Object { kind: Kind::Tag, body: format!("{head}\nWords\n").into_bytes() }.tag()
        };
        let sound = ["object ID", "type commit", "tag v1", "tagger A <a> 1 +0000"];
        assert_eq!(tag(&sound).unwrap().name, "v1");
        assert!(tag(&sound[..3]).is_ok(), "as the oldest are");
        assert!(tag(&[sound[1], sound[0], sound[2]]).is_err());
        assert!(tag(&[&sound[..], &["object ID"]].concat()).is_err());
        for name in ["v1^{commit}", "a..b", "a b", "-x", "a\u{7}", "/a", "a.lock", "@", ""] {
            let error = tag(&[sound[0], sound[1], &format!("tag {name}")]).expect_err(name).0;
            assert!(error.contains("is no name of a tag"), "{error}");
        }
    }
}
