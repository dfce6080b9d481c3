//! Requests in bounded memory: of a client with more than are kept, whole sessions are left
//! out by a hash of their names, and each that is kept stands for several.

use super::{Ended, Names, Observed, Request};

/// Requests that are kept of one service, some 80 MB.
pub const MOST_REQUESTS: usize = 1 << 19;

/// Which requests are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// How often half of the sessions were left out.
    halvings: u32,
    /// Whether requests are chosen one by one: too few sessions for a choice among these.
    one_by_one: bool,
}

impl Kept {
    /// How many each one stands for.
    pub fn stands_for(self) -> f64 {
        (1_u64 << self.halvings.min(63)) as f64
    }

    /// Whether all are there.
    pub(crate) const fn is_all(self) -> bool {
        self.halvings == 0
    }

    /// Whether a request stays. What is chosen depends on its name alone, so neither on the
    /// order of requests nor on how many there are of others.
    fn keeps(self, session: Option<&str>, row: u32) -> bool {
        if self.halvings == 0 {
            return true;
        }
        let name = session.filter(|_| !self.one_by_one).map(str::as_bytes);
        let hash = name.map_or_else(|| mixed(&row.to_le_bytes()), mixed);
        hash.leading_zeros() >= self.halvings
    }
}

/// FNV-1a, with its bits spread (the finaliser of splitmix64): names that count upwards differ
/// in their last digits only.
pub fn mixed(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let hash = bytes
        .iter()
        .fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    spread(hash)
}

/// All bits of a number in each bit.
pub const fn spread(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Why requests are left out beyond what is kept.
pub(crate) const LEFT_OUT: &str = "requests of sessions that others stand for: too many to keep";

impl Observed {
    /// Adds a request of a session.
    pub fn keep(&mut self, session: Option<&str>, mut request: Request) {
        if !self.kept.keeps(session, request.row) {
            self.dropped.add(LEFT_OUT, u64::from(request.row));
            return;
        }
        request.session = session.map(|id| self.names.session(id));
        self.requests.push(request);
        while self.requests.len() > MOST_REQUESTS {
            let halvings = self.kept.halvings + 1;
            self.choose(Kept { halvings, ..self.kept });
        }
    }

    /// Keeps no more than this choice does.
    pub(super) fn choose(&mut self, kept: Kept) {
        let Self { requests, names, dropped, .. } = self;
        let named = std::mem::take(&mut names.sessions);
        let id = |request: &Request| request.session.map(|place| named.text(place));
        let any = requests.is_empty() || requests.iter().any(|r| kept.keeps(id(r), r.row));
        // What is there are all requests of few sessions.
        let kept = if any { kept } else { Kept { halvings: 1, one_by_one: true } };
        requests.retain_mut(|request| {
            let stays = kept.keeps(id(request), request.row);
            if stays {
                request.session = id(request).map(|id| names.sessions.place(id));
            } else {
                dropped.add(LEFT_OUT, u64::from(request.row));
            }
            stays
        });
        self.kept = kept;
    }

    /// Takes over what is kept of another source of the same service.
    pub(super) fn keep_all(&mut self, other: Vec<Request>, names: &Names, kept: Kept) {
        if kept.halvings > self.kept.halvings || kept.one_by_one {
            let halvings = kept.halvings.max(self.kept.halvings);
            self.choose(Kept { halvings, ..kept });
        }
        for mut request in other {
            if let Ended::Failed(words) = request.ended {
                request.ended = Ended::Failed(self.names.error(names.error_words(words)));
            }
            let session = request.session.map(|place| names.session_id(place));
            self.keep(session, request);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(row: u32) -> Request {
        Request { row, turn: Some(1), ..Request::default() }
    }

    fn of(requests: impl Iterator<Item = (u32, String)>) -> Observed {
        let mut observed = Observed::default();
        requests.for_each(|(row, session)| observed.keep(Some(&session), request(row)));
        observed
    }

    #[test]
    fn beyond_what_is_kept_whole_sessions_stay_and_stand_for_the_others() {
        let all = 3 * MOST_REQUESTS as u32;
        let name = |row: u32| format!("s{}", row % (all / 8));
        let observed = of((0..all).map(|row| (row, name(row))));
        let kept = observed.requests.len();
        assert!((MOST_REQUESTS / 2..=MOST_REQUESTS).contains(&kept), "{kept}");
        assert_eq!(observed.kept.stands_for(), 4.0);
        assert_eq!(observed.dropped.count(LEFT_OUT) as usize, all as usize - kept);
        // About as many as they stand for, and each session whole.
        assert!((kept as f64 * 4.0 / f64::from(all) - 1.0).abs() < 0.02, "{kept}");
        assert_eq!(observed.names.sessions() * 8, kept);
        // In any order the same ones.
        let turned = of((0..all).rev().map(|row| (row, name(row))));
        let rows = |o: &Observed| {
            let mut rows: Vec<u32> = o.requests.iter().map(|r| r.row).collect();
            rows.sort_unstable();
            rows
        };
        assert_eq!(rows(&observed), rows(&turned));
    }

    #[test]
    fn too_many_requests_of_one_session_are_chosen_one_by_one() {
        let observed = of((0..3 * MOST_REQUESTS as u32).map(|row| (row, "one".into())));
        assert!(observed.requests.len() > MOST_REQUESTS / 4, "{}", observed.requests.len());
        assert!(observed.kept.one_by_one && !observed.kept.is_all());
    }

    #[test]
    fn two_sources_are_chosen_from_alike() {
        let many = MOST_REQUESTS as u32 + 1;
        let mut few = of((0..1000).map(|row| (row, format!("s{row}"))));
        let name = |row: u32| format!("t{row}");
        few.add(of((0..many).map(|row| (row, name(row)))), "other", true);
        assert_eq!(few.kept.stands_for(), 2.0);
        let stays = few.requests.iter().filter(|r| {
            r.session.is_some_and(|place| few.names.session_id(place).starts_with('s'))
        });
        let stays = stays.count();
        assert!((400..600).contains(&stays), "{stays}");
    }
}
