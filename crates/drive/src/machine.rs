//! What else the machine does, as far as it says: on one that is busy, a run measures its
//! neighbours.

use serde::Serialize;

/// The machine at one time. Shares are to 4 digits, frequencies to whole MHz.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Machine {
    /// Time on the run's clock, s.
    pub t_s: f64,
    /// Load average of the last minute.
    pub load_1: Option<f64>,
    /// Share of the processors' time that went to others (steal) since the look before; unknown
    /// at the first. Older runs have `steal_share` in its place, which is since the machine started.
    pub stolen_share: Option<f64>,
    /// Mean frequency of the processors, MHz.
    pub mhz: Option<f64>,
}

/// Looks at the machine again and again.
#[derive(Debug, Default)]
pub struct Looks(Option<Times>);

/// The processors' time since the machine started, in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    all: f64,
    steal: f64,
}

impl Looks {
    /// Looks at it.
    pub fn look(&mut self, t_s: f64) -> Machine {
        let before = std::mem::replace(&mut self.0, times(&said("/proc/stat")));
        Machine {
            t_s: rounded(t_s, 1e4),
            load_1: load_1(),
            stolen_share: before.zip(self.0).and_then(|(before, now)| stolen(before, now)),
            mhz: mhz(&said("/proc/cpuinfo")),
        }
    }
}

/// Load average of the last minute, where the system says it.
pub fn load_1() -> Option<f64> {
    load(&said("/proc/loadavg"))
}

fn said(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// The line of all processors, whose eighth number is steal.
fn times(text: &str) -> Option<Times> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<f64> = line.split_whitespace().filter_map(|t| t.parse().ok()).collect();
    let all = times.iter().take(8).sum();
    Some(Times { all, steal: *times.get(7)? })
}

fn stolen(before: Times, now: Times) -> Option<f64> {
    let (all, steal) = (now.all - before.all, now.steal - before.steal);
    // A count of theirs may step back a little.
    (all > 0.0).then(|| rounded((steal / all).clamp(0.0, 1.0), 1e4))
}

fn mhz(text: &str) -> Option<f64> {
    let of = |line: &str| line.strip_prefix("cpu MHz")?.split_once(':')?.1.trim().parse().ok();
    let all: Vec<f64> = text.lines().filter_map(of).collect();
    (!all.is_empty()).then(|| rounded(all.iter().sum::<f64>() / all.len() as f64, 1.0))
}

/// The nearest whole multiple of one part in `parts`.
fn rounded(x: f64, parts: f64) -> f64 {
    (x * parts).round() / parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_read_and_what_it_does_not_say_is_unknown() {
        assert_eq!(load("3.11 2.09 1.90 4/500 123\n"), Some(3.11));
        let read = Times { all: 100.0, steal: 10.0 };
        assert_eq!(times("cpu  10 0 10 70 0 0 0 10 5 5\ncpu0 1\n"), Some(read));
        assert_eq!(mhz("processor : 0\ncpu MHz\t\t: 2000.0\ncpu MHz\t\t: 3000.0\n"), Some(2500.0));
        assert_eq!((load(""), times("cpu  1 2"), mhz("")), (None, None, None));
    }

    #[test]
    fn what_was_stolen_is_since_the_look_before() {
        // A day on two processors, then a minute in which others had a tenth of them.
        let day = Times { all: 17_280_000.0, steal: 100_000.0 };
        let minute = Times { all: day.all + 12_000.0, steal: day.steal + 1200.0 };
        assert_eq!(stolen(day, minute), Some(0.1));
        assert_eq!(stolen(minute, minute), None, "no time has passed");
        assert_eq!(stolen(minute, Times { all: minute.all + 9.0, ..day }), Some(0.0));
        let mut looks = Looks::default();
        assert_eq!(looks.look(0.0).stolen_share, None, "the first has none before it");
    }
}
