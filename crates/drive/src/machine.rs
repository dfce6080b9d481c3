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
    /// Share of the processors' time that went to others (steal) since it started.
    pub steal_share: Option<f64>,
    /// Mean frequency of the processors, MHz.
    pub mhz: Option<f64>,
}

impl Machine {
    /// Looks at it.
    pub fn now(t_s: f64) -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Self {
            t_s: rounded(t_s, 1e4),
            load_1: load(&read("/proc/loadavg")),
            steal_share: steal(&read("/proc/stat")),
            mhz: mhz(&read("/proc/cpuinfo")),
        }
    }
}

fn load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

/// The eighth number of all processors' line.
fn steal(text: &str) -> Option<f64> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<f64> = line.split_whitespace().filter_map(|t| t.parse().ok()).collect();
    let all: f64 = times.iter().take(8).sum();
    let steal = times.get(7)?;
    (all > 0.0).then(|| rounded(steal / all, 1e4))
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
        assert_eq!(steal("cpu  10 0 10 70 0 0 0 10 0 0\ncpu0 1\n"), Some(0.1));
        assert_eq!(mhz("processor : 0\ncpu MHz\t\t: 2000.0\ncpu MHz\t\t: 3000.0\n"), Some(2500.0));
        assert_eq!((load(""), steal("cpu  1 2"), mhz("")), (None, None, None));
    }
}
