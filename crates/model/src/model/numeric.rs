//! Root finding and small sums that several models share. Deterministic: plain
//! arithmetic in a fixed order, no transcendental function.

/// A root of `f` in `[low, high]`, where `f(low)` and `f(high)` differ in sign.
///
/// Chandrupatla's bracketing method: inverse quadratic steps where they are safe,
/// bisection elsewhere. Stops at a relative width of a few rounding errors.
/// Returns `None` when the ends do not bracket a root.
pub(crate) fn root_between(low: f64, high: f64, mut f: impl FnMut(f64) -> f64) -> Option<f64> {
    let (mut b, mut a) = (low, high);
    let (mut fb, mut fa) = (f(b), f(a));
    if fb == 0.0 {
        return Some(b);
    }
    if fa == 0.0 {
        return Some(a);
    }
    if fa.is_nan() || fb.is_nan() || (fa > 0.0) == (fb > 0.0) {
        return None;
    }
    let mut t = 0.5;
    for _ in 0..200 {
        let x = a + t * (b - a);
        let fx = f(x);
        let (c, fc);
        if (fx > 0.0) == (fa > 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let (best, f_best) = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
        let tolerance = 2.0 * f64::EPSILON * best.abs() + f64::MIN_POSITIVE;
        let half = tolerance / (b - a).abs();
        if half > 0.5 || f_best == 0.0 {
            return Some(best);
        }
        let xi = (a - b) / (c - b);
        let phi = (fa - fb) / (fc - fb);
        t = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        } else {
            0.5
        };
        t = t.clamp(half, 1.0 - half);
    }
    Some(if fa.abs() < fb.abs() { a } else { b })
}

/// The root of an increasing `f` on `(0, inf)`: widens a bracket around `guess`
/// by factors of two first. `None` when 200 doublings either way find no sign change.
pub(crate) fn root_of_increasing(guess: f64, mut f: impl FnMut(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (guess, guess);
    for _ in 0..200 {
        if f(low) <= 0.0 {
            break;
        }
        low *= 0.5;
    }
    for _ in 0..200 {
        if f(high) >= 0.0 {
            break;
        }
        high *= 2.0;
    }
    root_between(low, high, f)
}

/// sum_i a_i b_i, left to right.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_found_to_rounding_whichever_end_is_positive() {
        let up = root_between(0.0, 2.0, |x| x * x * x - 2.0).unwrap();
        let down = root_between(0.0, 2.0, |x| 2.0 - x * x * x).unwrap();
        assert!((up - 1.259_921_049_894_873_2).abs() < 1e-15);
        assert_eq!(up, down);
    }

    #[test]
    fn a_pole_at_the_end_of_the_bracket_is_no_obstacle() {
        let root = root_between(0.0, 1.0 - 1e-13, |x| x / (1.0 - x) - 1e6).unwrap();
        assert!((root - 1e6 / (1e6 + 1.0)).abs() < 1e-15);
    }

    #[test]
    fn without_a_sign_change_there_is_no_root() {
        assert_eq!(root_between(1.0, 2.0, |x| x), None);
    }

    #[test]
    fn an_increasing_function_is_bracketed_from_a_guess_far_away() {
        let root = root_of_increasing(1e-9, |x| x * x - 1e8).unwrap();
        assert!((root - 1e4).abs() < 1e-10);
    }
}
