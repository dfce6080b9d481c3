//! The head of a commit or a tag: its lines before the first empty one, each in its place.

use super::super::Malformed;

/// The last second of the year 9999: times after it cannot be written in four digits.
const LATEST_UNIX: i64 = 253_402_300_799;

/// Lines that are still to be read. Names of people may be in any encoding.
pub(super) struct Head<'a>(&'a [u8]);

impl<'a> Head<'a> {
    /// The head of an object's bytes, which ends with a line's end.
    pub(super) fn of(body: &'a [u8]) -> Result<Self, Malformed> {
        let end = match body.windows(2).position(|pair| pair == b"\n\n") {
            Some(before) => before + 1,
            None if body.ends_with(b"\n") => body.len(),
            None => return Err(Malformed("its head has no end".into())),
        };
        let head = &body[..end];
        if head.contains(&0) {
            return Err(Malformed("a zero byte in its head".into()));
        }
        Ok(Self(head))
    }

    /// What the next line says if its key is this one.
    pub(super) fn next(&mut self, key: &str) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|b| *b == b'\n')?;
        let value = self.0[..end].strip_prefix(key.as_bytes())?.strip_prefix(b" ")?;
        self.0 = &self.0[end + 1..];
        Some(value)
    }

    /// What the next line says, whose key must be this one.
    pub(super) fn expect(&mut self, key: &str) -> Result<&'a [u8], Malformed> {
        self.next(key).ok_or_else(|| {
            let found = self.0.split(|b| *b == b'\n').next().unwrap_or_default();
            let found = String::from_utf8_lossy(found);
            let an = if key.starts_with(['a', 'o']) { "an" } else { "a" };
            Malformed(format!("expected {an} {key} line, found {found:?}"))
        })
    }

    /// Ends the reading. More lines may follow (a signature, an encoding), but none of the
    /// keys that were read: git would not see them.
    pub(super) fn finish(self, read: &[&str]) -> Result<(), Malformed> {
        for line in self.0.split(|b| *b == b'\n') {
            let key = line.split(|b| *b == b' ').next().unwrap_or_default();
            if let Some(key) = read.iter().find(|known| known.as_bytes() == key) {
                return Err(Malformed(format!("a {key} line where git reads none")));
            }
        }
        Ok(())
    }
}

/// When `Name <mail> SECONDS ZONE` was written, Unix seconds.
pub(super) fn signature(who: &str, line: &[u8]) -> Result<i64, Malformed> {
    let wrong = |why: &str| {
        let line = String::from_utf8_lossy(line);
        Malformed(format!("{who} {line:?}: {why}"))
    };
    let shape = || wrong("expected NAME <MAIL> SECONDS ZONE");
    let is_bracket = |b: &u8| matches!(b, b'<' | b'>');
    let open = line.iter().position(is_bracket).ok_or_else(shape)?;
    let close = line[open + 1..].iter().position(is_bracket).ok_or_else(shape)? + open + 1;
    let spaced = open == 0 || line[open - 1] == b' ';
    if (line[open], line[close]) != (b'<', b'>') || !spaced {
        return Err(shape());
    }
    let when = std::str::from_utf8(&line[close + 1..]).ok().and_then(|w| w.strip_prefix(' '));
    let (seconds, zone) = when.and_then(|w| w.split_once(' ')).ok_or_else(shape)?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if zone.len() != 5 || !zone.starts_with(['+', '-']) || !digits(&zone[1..]) {
        return Err(wrong("expected a zone such as -0600"));
    }
    if !digits(seconds) || (seconds.len() > 1 && seconds.starts_with('0')) {
        return Err(wrong("expected whole seconds since 1970"));
    }
    let seconds = seconds.parse().ok().filter(|s| *s <= LATEST_UNIX);
    seconds.ok_or_else(|| wrong("a time after the year 9999"))
}

/// Whether git takes a name for that of a tag (`git check-ref-format refs/tags/NAME`), and
/// for nothing else where it names a revision.
pub(super) fn is_ref_name(name: &str) -> bool {
    let plain = |c: char| !c.is_control() && !" ~^:?*[\\".contains(c);
    let part = |p: &str| !p.is_empty() && !p.starts_with('.') && !p.ends_with(".lock");
    name.chars().all(plain)
        && name.split('/').all(part)
        && !["..", "@{"].iter().any(|no| name.contains(no))
        && !name.starts_with('-')
        && !name.ends_with('.')
        && name != "@"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_has_a_time_that_git_takes() {
        let time = |line: &str| signature("committer", line.as_bytes()).map_err(|e| e.0);
        assert_eq!(time("Some One <a@b> 1793909228 -0600"), Ok(1_793_909_228));
        assert_eq!(time("<> 0 +0000"), Ok(0));
        assert_eq!(time("A <a> 253402300799 +0000"), Ok(LATEST_UNIX));
        for (line, words) in [
            ("A <a> 253402300800 +0000", "after the year 9999"),
            ("A <a> 9223372036854775808 +0000", "after the year 9999"),
            ("A <a> -9223372036854775808 +0000", "whole seconds since 1970"),
            ("A <a> -1 +0000", "whole seconds since 1970"),
            ("A <a> +1 +0000", "whole seconds since 1970"),
            ("A <a> 007 +0000", "whole seconds since 1970"),
            ("A <a> 7 0000", "a zone such as"),
            ("A <a> 7 +00000", "a zone such as"),
            ("A <a> 7 +0000 ", "a zone such as"),
            ("A <a>7 +0000", "expected NAME <MAIL>"),
            ("A <a> 7", "expected NAME <MAIL>"),
            ("A<a> 7 +0000", "expected NAME <MAIL>"),
            ("A <a <b> 7 +0000", "expected NAME <MAIL>"),
            ("A >a< 7 +0000", "expected NAME <MAIL>"),
            ("", "expected NAME <MAIL>"),
        ] {
            let error = time(line).expect_err(line);
            assert!(error.contains(words), "{line}: {error}");
        }
    }

    #[test]
    fn a_head_without_an_end_or_with_a_zero_byte_is_none() {
        assert!(Head::of(b"tree x").is_err());
        assert!(Head::of(b"tree x\n").is_ok());
        assert!(Head::of(b"tree \0x\n\nwords").is_err());
        assert!(Head::of(b"tree x\n\nwords\0").is_ok());
    }
}
