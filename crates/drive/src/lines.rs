//! Lines of a stream that comes in pieces: the events of an answer, each of bounded length.

use crate::fault::Fault;

/// What has come and is not a whole line yet.
#[derive(Debug)]
pub struct Lines {
    pending: Vec<u8>,
    /// Up to here there is no line end in `pending`.
    looked_at: usize,
    /// Up to here it has been handed out.
    used: usize,
    most: usize,
}

impl Lines {
    /// Lines of at most `most` bytes.
    pub fn new(most: usize) -> Self {
        Self { pending: Vec::new(), looked_at: 0, used: 0, most }
    }

    /// Takes in what came.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.drain(..self.used);
        self.looked_at -= self.used;
        self.used = 0;
        self.pending.extend_from_slice(bytes);
    }

    /// The next whole line, without its end.
    ///
    /// # Errors
    /// It is longer than a line may be.
    pub(crate) fn next_line(&mut self) -> Result<Option<&[u8]>, Fault> {
        let end = self.pending[self.looked_at..].iter().position(|b| *b == b'\n');
        let start = self.used;
        let length = end.map_or(self.pending.len(), |end| self.looked_at + end) - start;
        if length > self.most {
            return Err(Fault::TooLarge(self.most as u64));
        }
        let Some(end) = end.map(|end| self.looked_at + end) else {
            self.looked_at = self.pending.len();
            return Ok(None);
        };
        (self.used, self.looked_at) = (end + 1, end + 1);
        let line = &self.pending[start..end];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_were_cut() {
        let text = b"data: 1\r\n\ndata: two\nrest";
        for cut in 0..text.len() {
            let mut lines = Lines::new(100);
            let mut found = Vec::new();
            for piece in [&text[..cut], &text[cut..]] {
                lines.push(piece);
                while let Some(line) = lines.next_line().unwrap() {
                    found.push(String::from_utf8(line.to_vec()).unwrap());
                }
            }
            assert_eq!(found, ["data: 1", "", "data: two"], "cut at {cut}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_given_up() {
        let mut lines = Lines::new(1000);
        for _ in 0..10 {
            lines.push(&[b'x'; 100]);
            assert_eq!(lines.next_line(), Ok(None));
        }
        lines.push(b"x");
        assert_eq!(lines.next_line(), Err(Fault::TooLarge(1000)));
    }
}
