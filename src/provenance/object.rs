//! Git objects: their names, and what a commit, a tree and an annotated tag say.
//!
//! An object's name is the SHA-1 of its kind, its length and its bytes, so a proof
//! that keeps those needs no repository to be checked. SHA-1 repositories only.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use sha1_checked::Sha1;

/// The name of a git object: the SHA-1 of its framed bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 20]);

/// Bytes that are not the git object they should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ObjectError(pub String);

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

impl Id {
    /// The name of framed bytes.
    ///
    /// # Errors
    /// They carry the marks of a forged SHA-1 collision.
    pub fn of(framed: &[u8]) -> Result<Self, ObjectError> {
        let result = Sha1::try_digest(framed);
        if result.has_collision() {
            return Err(ObjectError("its bytes are a forged SHA-1 collision".into()));
        }
        Ok(Self((*result.hash()).into()))
    }

    /// From its twenty bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its twenty bytes.
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

impl FromStr for Id {
    type Err = ObjectError;

    fn from_str(text: &str) -> Result<Self, ObjectError> {
        let wrong = || ObjectError(format!("expected 40 hexadecimal digits, found {text:?}"));
        let digits = text.as_bytes();
        if digits.len() != 40 || !digits.iter().all(|d| matches!(d, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(wrong());
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Kind {
    const ALL: [Self; 4] = [Self::Blob, Self::Tree, Self::Commit, Self::Tag];

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
    pub fn parse(framed: &[u8]) -> Result<Self, ObjectError> {
        let wrong = |why: &str| ObjectError(format!("not a git object: {why}"));
        let end = framed.iter().position(|b| *b == 0).ok_or_else(|| wrong("no frame"))?;
        let head = std::str::from_utf8(&framed[..end]).map_err(|_| wrong("no frame"))?;
        let (word, length) = head.split_once(' ').ok_or_else(|| wrong("no frame"))?;
        let kind = Kind::ALL.into_iter().find(|kind| kind.word() == word);
        let kind = kind.ok_or_else(|| wrong("unknown kind"))?;
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
    pub fn id(&self) -> Result<Id, ObjectError> {
        Id::of(&self.framed())
    }

    fn expect(&self, kind: Kind) -> Result<&[u8], ObjectError> {
        if self.kind == kind {
            return Ok(&self.body);
        }
        Err(ObjectError(format!("expected a {}, found a {}", kind.word(), self.kind.word())))
    }

    /// The entries of a tree.
    ///
    /// # Errors
    /// It is no tree, or not one that git would have written: entries out of order,
    /// there twice, or with a name that is no file name.
    pub fn tree(&self) -> Result<Vec<TreeEntry>, ObjectError> {
        let mut rest = self.expect(Kind::Tree)?;
        let mut entries: Vec<TreeEntry> = Vec::new();
        while !rest.is_empty() {
            let (entry, after) = tree_entry(rest)
                .ok_or_else(|| ObjectError("a tree that ends inside an entry".into()))?;
            rest = after;
            let name = String::from_utf8_lossy(&entry.name).into_owned();
            if entry.name.is_empty() || entry.name.contains(&b'/') || name == "." || name == ".." {
                return Err(ObjectError(format!("a tree entry named {name:?}")));
            }
            if let Some(before) = entries.last()
                && order(before) >= order(&entry)
            {
                let before = String::from_utf8_lossy(&before.name);
                let message = format!("tree entries out of order: {name:?} after {before:?}");
                return Err(ObjectError(message));
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    /// What a commit says.
    ///
    /// # Errors
    /// It is no commit, or lacks a line every commit has.
    pub fn commit(&self) -> Result<Commit, ObjectError> {
        let headers = headers(self.expect(Kind::Commit)?);
        let tree = required(&headers, "tree")?.parse()?;
        let parents = headers.iter().filter(|(key, _)| key == "parent");
        let parents = parents.map(|(_, id)| id.parse()).collect::<Result<_, _>>()?;
        let committer = required(&headers, "committer")?;
        let committed_unix = committer
            .rsplit(' ')
            .nth(1)
            .and_then(|seconds| seconds.parse().ok())
            .ok_or_else(|| ObjectError(format!("a committer without a time: {committer:?}")))?;
        Ok(Commit { tree, parents, committed_unix })
    }

    /// What an annotated tag says.
    ///
    /// # Errors
    /// It is no tag of a commit, or lacks a line every tag has.
    pub fn tag(&self) -> Result<Tag, ObjectError> {
        let headers = headers(self.expect(Kind::Tag)?);
        let kind = required(&headers, "type")?;
        if kind != "commit" {
            return Err(ObjectError(format!("a tag of a {kind}, not of a commit")));
        }
        let target = required(&headers, "object")?.parse()?;
        Ok(Tag { target, name: required(&headers, "tag")?.to_owned() })
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

fn tree_entry(bytes: &[u8]) -> Option<(TreeEntry, &[u8])> {
    let space = bytes.iter().position(|b| *b == b' ')?;
    let zero = space + bytes[space..].iter().position(|b| *b == 0)?;
    let id = Id::from_bytes(bytes.get(zero + 1..zero + 21)?)?;
    let mode = &bytes[..space];
    let entry = TreeEntry {
        name: bytes[space + 1..zero].to_vec(),
        is_tree: mode == b"40000",
        is_file: matches!(mode, b"100644" | b"100755"),
        id,
    };
    Some((entry, &bytes[zero + 21..]))
}

/// The lines before the first empty one, as key and value; continued lines are left
/// out. Names of people may be in any encoding, what is read here is ASCII.
fn headers(body: &[u8]) -> Vec<(String, String)> {
    let end = body.windows(2).position(|pair| pair == b"\n\n").unwrap_or(body.len());
    let text = String::from_utf8_lossy(&body[..end]);
    let lines = text.split('\n').filter_map(|line| line.split_once(' '));
    lines.filter(|(key, _)| !key.is_empty()).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

fn required<'a>(headers: &'a [(String, String)], key: &str) -> Result<&'a str, ObjectError> {
    let mut values = headers.iter().filter(|(k, _)| k == key).map(|(_, value)| value.as_str());
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(value),
        (None, _) => Err(ObjectError(format!("it has no {key}"))),
        _ => Err(ObjectError(format!("it has more than one {key}"))),
    }
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

    #[test]
    fn a_tree_out_of_order_is_no_tree() {
        let tree = |entries: &[(&str, &str)]| {
            let mut body = Vec::new();
            for (mode, name) in entries {
                body.extend(format!("{mode} {name}\0").bytes());
                body.extend([7; 20]);
            }
            Object { kind: Kind::Tree, body }.tree()
        };
        // A folder "a" sorts as "a/", which is after "a.b" and before "a0".
        let sound = [("100644", "a.b"), ("40000", "a"), ("100644", "a0")];
        assert_eq!(tree(&sound).unwrap().len(), 3);
        assert!(tree(&[("40000", "a"), ("100644", "a.b")]).unwrap_err().0.contains("out of order"));
        assert!(tree(&[("100644", "a"), ("100644", "a")]).is_err());
        assert!(tree(&[("100644", "..")]).is_err());
    }
}
