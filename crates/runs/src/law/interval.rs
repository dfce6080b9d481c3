//! Exact intervals for few runs: Clopper and Pearson's for a share, Student's for a fitted
//! coefficient (App. D, E.6, F).

/// Halvings of [0, 1] after which both ends of an interval agree to the last bit.
const HALVINGS: usize = 60;
/// A quantile of Student's t beyond this is not looked for.
const LARGEST_T: f64 = 1e6;

/// The two-sided Clopper-Pearson interval of `successes` of `trials`: each tail keeps
/// (1 - confidence) / 2. `None` without a trial.
pub fn clopper_pearson(successes: u64, trials: u64, confidence: f64) -> Option<(f64, f64)> {
    if trials == 0 || successes > trials {
        return None;
    }
    let tail = 0.5 * (1.0 - confidence);
    let lower = if successes == 0 { 0.0 } else { solve(|p| at_least(successes, trials, p) - tail) };
    Some((lower, upper(successes, trials, tail)))
}

/// The one-sided upper bound on the share behind `successes` of `trials`: at it, so few are
/// seen with probability 1 - confidence. `None` without a trial.
pub fn upper_bound(successes: u64, trials: u64, confidence: f64) -> Option<f64> {
    (trials > 0 && successes <= trials).then(|| upper(successes, trials, 1.0 - confidence))
}

fn upper(successes: u64, trials: u64, tail: f64) -> f64 {
    if successes == trials {
        return 1.0;
    }
    solve(|p| tail - (1.0 - at_least(successes + 1, trials, p)))
}

/// The chance of at least `successes` of `trials` at a share `p`.
fn at_least(successes: u64, trials: u64, p: f64) -> f64 {
    (successes..=trials).map(|k| probability(k, trials, p)).sum()
}

fn probability(k: u64, trials: u64, p: f64) -> f64 {
    let mut density = libm::pow(1.0 - p, (trials - k) as f64);
    for i in 0..k {
        density *= p * (trials - i) as f64 / (i + 1) as f64;
    }
    density
}

/// Where an increasing function of a share passes 0.
fn solve(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The half-width, in standard errors, of Student's two-sided interval with so many degrees
/// of freedom. `None` without one.
pub fn student_t(degrees: u64, confidence: f64) -> Option<f64> {
    if degrees == 0 || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while within(high, degrees) < confidence {
        high *= 2.0;
        if high > LARGEST_T {
            return None;
        }
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if within(middle, degrees) < confidence { low = middle } else { high = middle }
    }
    Some(0.5 * (low + high))
}

/// P(|t| <= x): finite sums in the angle theta = atan(x / sqrt(degrees)).
fn within(x: f64, degrees: u64) -> f64 {
    let theta = libm::atan(x / (degrees as f64).sqrt());
    let (sin, cos) = (libm::sin(theta), libm::cos(theta));
    let odd = degrees % 2 == 1;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = if degrees == 1 { 0.0 } else { term };
    let mut k = if odd { 3 } else { 2 };
    while k < degrees {
        term *= cos * cos * (k - 1) as f64 / k as f64;
        sum += term;
        k += 2;
    }
    if odd { 2.0 / std::f64::consts::PI * (theta + sin * sum) } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn no_success_and_all_successes_have_the_closed_forms() {
        let (lower, upper) = clopper_pearson(0, 3, 0.95).unwrap();
        assert!(lower == 0.0 && close(upper, 1.0 - libm::cbrt(0.025)));
        let (lower, upper) = clopper_pearson(3, 3, 0.95).unwrap();
        assert!(close(lower, libm::cbrt(0.025)) && upper == 1.0);
        let bound = upper_bound(0, 50, 0.95).unwrap();
        assert!(close(bound, 1.0 - libm::pow(0.05, 1.0 / 50.0)));
        assert_eq!(clopper_pearson(0, 0, 0.95), None);
    }

    #[test]
    fn at_each_end_of_an_interval_what_was_seen_is_as_rare_as_asked() {
        let (lower, upper) = clopper_pearson(4, 9, 0.95).unwrap();
        assert!(close(at_least(4, 9, lower), 0.025));
        assert!(close(1.0 - at_least(5, 9, upper), 0.025));
        let mirrored = clopper_pearson(5, 9, 0.95).unwrap();
        assert!(close(mirrored.0, 1.0 - upper) && close(mirrored.1, 1.0 - lower));
    }

    #[test]
    fn the_quantiles_of_t_are_the_tabulated_ones() {
        for (degrees, tabulated) in
            [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (30, 2.0423)]
        {
            let t = student_t(degrees, 0.95).unwrap();
            assert!((t - tabulated).abs() < 6e-5, "{degrees}: {t}");
        }
        assert_eq!(student_t(0, 0.95), None);
    }
}
