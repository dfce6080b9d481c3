//! A git pack and its index (version 2): finding an object and undoing its deltas.

use std::fs;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::object::{Id, Kind, Object};
use super::repository::RepositoryError;

/// A pack, with its index in memory.
#[derive(Debug)]
pub struct Pack {
    path: PathBuf,
    index: Vec<u8>,
    objects: usize,
}

/// The index: magic and version, 256 counts by first byte, then names, checksums,
/// offsets, and offsets past 2 GiB.
const NAMES_AT: usize = 8 + 256 * 4;

/// git makes chains of 50 deltas, and none longer than this.
const LONGEST_CHAIN: usize = 4096;

/// What a reader of a delta's base gives: an object elsewhere in the repository.
type Base<'a> = &'a dyn Fn(Id) -> Result<Object, RepositoryError>;

/// An entry's data, before deltas are undone.
enum Entry {
    Whole(Kind, Vec<u8>),
    OnOffset(u64, Vec<u8>),
    OnObject(Id, Vec<u8>),
}

impl Pack {
    /// Every pack of a folder, in order of name; none where there is no folder.
    ///
    /// # Errors
    /// An index cannot be read or has another version.
    pub fn open_all(dir: &Path) -> Result<Vec<Self>, RepositoryError> {
        let Ok(entries) = fs::read_dir(dir) else { return Ok(Vec::new()) };
        let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|e| e == "idx"));
        paths.sort();
        paths.iter().map(|path| Self::open(path)).collect()
    }

    fn open(path: &Path) -> Result<Self, RepositoryError> {
        let index = crate::reading::bytes(path).map_err(|e| RepositoryError::io(path, &e))?;
        if !index.starts_with(b"\xfftOc\x00\x00\x00\x02") {
            return Err(RepositoryError::new(path, "expected a pack index of version 2"));
        }
        let objects = u32_at(&index, NAMES_AT - 4).unwrap_or_default() as usize;
        if index.len() < NAMES_AT + objects * 28 {
            return Err(RepositoryError::new(path, "cut off"));
        }
        Ok(Self { path: path.with_extension("pack"), index, objects })
    }

    /// Where an object lies in the pack.
    pub fn find(&self, id: Id) -> Option<u64> {
        let names = self.index.get(NAMES_AT..NAMES_AT + self.objects * 20)?;
        let (mut low, mut high) = (0, self.objects);
        while low < high {
            let middle = (low + high) / 2;
            let name = names.get(middle * 20..middle * 20 + 20)?;
            match name.cmp(id.as_bytes().as_slice()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset(middle),
            }
        }
        None
    }

    fn offset(&self, at: usize) -> Option<u64> {
        let offsets = NAMES_AT + self.objects * 24;
        let small = u32_at(&self.index, offsets + at * 4)?;
        if small & 0x8000_0000 == 0 {
            return Some(u64::from(small));
        }
        let place = offsets + self.objects * 4 + (small & 0x7fff_ffff) as usize * 8;
        self.index.get(place..place + 8)?.try_into().ok().map(u64::from_be_bytes)
    }

    /// The object at an offset.
    ///
    /// # Errors
    /// The pack cannot be read or is damaged there.
    pub fn object(&self, offset: u64, base: Base<'_>) -> Result<Object, RepositoryError> {
        let damaged = || RepositoryError::new(&self.path, format!("damaged at byte {offset}"));
        let file =
            crate::reading::open(&self.path).map_err(|e| RepositoryError::io(&self.path, &e))?;
        let mut file = BufReader::new(file);
        let mut deltas = Vec::new();
        let mut at = offset;
        let mut object = loop {
            if deltas.len() > LONGEST_CHAIN {
                return Err(damaged());
            }
            match entry(&mut file, at).ok_or_else(damaged)? {
                Entry::Whole(kind, body) => break Object { kind, body },
                Entry::OnObject(id, delta) => {
                    deltas.push(delta);
                    break base(id)?;
                }
                Entry::OnOffset(back, delta) => {
                    deltas.push(delta);
                    at = at.checked_sub(back).filter(|_| back > 0).ok_or_else(damaged)?;
                }
            }
        };
        for delta in deltas.iter().rev() {
            object.body = undone(&object.body, delta).ok_or_else(damaged)?;
        }
        Ok(object)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

/// Reads one entry: its kind and size in a variable-length head, its base where it is
/// a delta, and its packed data.
fn entry(file: &mut BufReader<fs::File>, offset: u64) -> Option<Entry> {
    file.seek(SeekFrom::Start(offset)).ok()?;
    let first = byte(file)?;
    let kind = first >> 4 & 7;
    let mut size = u64::from(first & 15);
    let (mut more, mut shift) = (first & 0x80 != 0, 4);
    while more {
        let next = byte(file)?;
        size |= u64::from(next & 0x7f).checked_shl(shift)?;
        (more, shift) = (next & 0x80 != 0, shift + 7);
    }
    let head = match kind {
        6 => Some(back_offset(file)?),
        _ => None,
    };
    let mut id = [0; 20];
    if kind == 7 {
        file.read_exact(&mut id).ok()?;
    }
    let data = unpacked(file, size)?;
    Some(match (kind, head) {
        (1, _) => Entry::Whole(Kind::Commit, data),
        (2, _) => Entry::Whole(Kind::Tree, data),
        (3, _) => Entry::Whole(Kind::Blob, data),
        (4, _) => Entry::Whole(Kind::Tag, data),
        (6, Some(back)) => Entry::OnOffset(back, data),
        (7, _) => Entry::OnObject(Id::from_bytes(&id)?, data),
        _ => return None,
    })
}

fn byte(file: &mut impl Read) -> Option<u8> {
    let mut one = [0];
    file.read_exact(&mut one).ok().map(|()| one[0])
}

/// How far before it a delta's base lies: big-endian groups of seven bits, each but
/// the last one less than it stands for.
fn back_offset(file: &mut impl Read) -> Option<u64> {
    let mut next = byte(file)?;
    let mut offset = u64::from(next & 0x7f);
    while next & 0x80 != 0 {
        next = byte(file)?;
        offset = offset.checked_add(1)?.checked_mul(128)? | u64::from(next & 0x7f);
    }
    Some(offset)
}

fn unpacked(file: &mut BufReader<fs::File>, size: u64) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    let packed = flate2::bufread::ZlibDecoder::new(file);
    packed.take(size.checked_add(1)?).read_to_end(&mut data).ok()?;
    (data.len() as u64 == size).then_some(data)
}

/// The object a delta makes from its base: runs copied from it and new bytes.
fn undone(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    if size(&mut rest)? != base.len() as u64 {
        return None;
    }
    let expected = size(&mut rest)?;
    let mut made = Vec::new();
    while let Some((op, after)) = rest.split_first() {
        rest = after;
        if op & 0x80 == 0 {
            let new = rest.get(..usize::from(*op)).filter(|_| *op != 0)?;
            made.extend(new);
            rest = &rest[usize::from(*op)..];
            continue;
        }
        let start = little_endian(&mut rest, op & 0x0f, 4)?;
        let length = match little_endian(&mut rest, op >> 4 & 7, 3)? {
            0 => 0x1_0000,
            length => length,
        };
        made.extend(base.get(start..start.checked_add(length)?)?);
    }
    (made.len() as u64 == expected).then_some(made)
}

/// A size in little-endian groups of seven bits.
fn size(bytes: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (next, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(next & 0x7f).checked_shl(shift)?;
        shift += 7;
        if next & 0x80 == 0 {
            return Some(value);
        }
    }
}

/// A number whose bytes that are not zero are there, by the bits of `which`.
fn little_endian(bytes: &mut &[u8], which: u8, most: u8) -> Option<usize> {
    let mut value = 0;
    for i in (0..most).filter(|i| which >> i & 1 == 1) {
        let (next, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= usize::from(*next) << (8 * i);
    }
    Some(value)
}
