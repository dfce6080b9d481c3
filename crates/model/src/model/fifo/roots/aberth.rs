//! All roots of a polynomial at once, by Aberth's iteration.

use std::iter::once;
use std::ops::{Add, Mul, Sub};

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Complex {
    /// Its real part.
    pub re: f64,
    /// Its imaginary part.
    pub im: f64,
}

impl Complex {
    const ZERO: Self = Self { re: 0.0, im: 0.0 };

    const fn real(re: f64) -> Self {
        Self { re, im: 0.0 }
    }

    /// At a distance from 0, and an angle in radians from the positive axis.
    fn at(modulus: f64, angle: f64) -> Self {
        Self { re: modulus * libm::cos(angle), im: modulus * libm::sin(angle) }
    }

    /// Its distance from 0.
    pub fn modulus(self) -> f64 {
        (self.re * self.re + self.im * self.im).sqrt()
    }

    /// 1 over it, by way of its larger part, so that nothing overflows.
    fn inverse(self) -> Self {
        if self.re.abs() >= self.im.abs() {
            let ratio = self.im / self.re;
            let whole = 1.0 / (self.re + self.im * ratio);
            Self { re: whole, im: -ratio * whole }
        } else {
            let ratio = self.re / self.im;
            let whole = 1.0 / (self.re * ratio + self.im);
            Self { re: ratio * whole, im: -whole }
        }
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let re = self.re * other.re - self.im * other.im;
        Self { re, im: self.re * other.im + self.im * other.re }
    }
}

/// Times that every root is moved; some twenty are enough for roots apart from each other.
const MOST_SWEEPS: usize = 500;

/// A value this many rounding errors of its terms away from 0 is one.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The roots of x^n + a_1 x^(n-1) + ... + a_n, from a_1 on, none of them outside the unit
/// circle; those at 0 are left out. Each is moved by Newton's step, as if the other roots'
/// factors were divided out: nothing is, so that no error of one is handed on to the next.
/// `None` when they do not come to rest.
pub fn roots(coefficients: &[f64]) -> Option<Vec<Complex>> {
    let degree = coefficients.iter().rposition(|a| *a != 0.0).map_or(0, |last| last + 1);
    let coefficients = &coefficients[..degree];
    let mut roots = first_guess(coefficients);
    let mut moves = vec![true; degree];
    for _ in 0..MOST_SWEEPS {
        for i in 0..degree {
            if !moves[i] {
                continue;
            }
            let x = roots[i];
            let Some(newton) = newton_step(coefficients, x) else {
                moves[i] = false;
                continue;
            };
            let others = roots.iter().enumerate().filter(|(j, _)| *j != i);
            let pull = others.fold(Complex::ZERO, |sum, (_, root)| sum + (x - *root).inverse());
            let step = newton * (Complex::real(1.0) - newton * pull).inverse();
            roots[i] = x - step;
            moves[i] = step.modulus() > f64::EPSILON * x.modulus();
        }
        if !moves.contains(&true) {
            return Some(roots);
        }
    }
    None
}

/// p / p' at x; `None` where p is 0 but for rounding. Outside the unit circle, where powers
/// overflow, by way of q(y) = y^n p(1 / y): p / p' = x / (n - y q' / q).
fn newton_step(coefficients: &[f64], x: Complex) -> Option<Complex> {
    if x.modulus() <= 1.0 {
        let (p, slope, size) = horner(once(1.0).chain(coefficients.iter().copied()), x);
        return (p.modulus() > ROUNDING * size).then(|| p * slope.inverse());
    }
    let y = x.inverse();
    let (q, slope, size) = horner(coefficients.iter().rev().copied().chain(once(1.0)), y);
    let turns = Complex::real(coefficients.len() as f64);
    (q.modulus() > ROUNDING * size).then(|| x * (turns - y * slope * q.inverse()).inverse())
}

/// A polynomial from its highest coefficient down, its derivative, and the sum of its terms'
/// sizes.
fn horner(coefficients: impl Iterator<Item = f64>, x: Complex) -> (Complex, Complex, f64) {
    let modulus = x.modulus();
    let none = (Complex::ZERO, Complex::ZERO, 0.0);
    coefficients.fold(none, |(p, slope, size), a| {
        (p * x + Complex::real(a), slope * x + p, size * modulus + a.abs())
    })
}

/// As many points as roots, on circles whose radii are the slopes of the hull over the
/// logarithms of the coefficients: there the roots lie, in number and in size (Bini, 1996).
fn first_guess(coefficients: &[f64]) -> Vec<Complex> {
    /// Turns the circles, so that no point lies on the axis, which it could not leave.
    const TURN: f64 = 0.7;
    let logs: Vec<f64> = [1.0].iter().chain(coefficients).map(|a| libm::log(a.abs())).collect();
    let slope = |i: usize, j: usize| (logs[j] - logs[i]) / (j - i) as f64;
    let mut hull: Vec<usize> = Vec::new();
    for i in (0..logs.len()).filter(|i| logs[*i].is_finite()) {
        while let [.., a, b] = *hull
            && slope(a, b) <= slope(b, i)
        {
            hull.pop();
        }
        hull.push(i);
    }
    let circle = |pair: &[usize]| {
        let (radius, points) = (libm::exp(slope(pair[0], pair[1])), pair[1] - pair[0]);
        let first = TURN + pair[0] as f64;
        let angle = std::f64::consts::TAU / points as f64;
        (0..points).map(move |k| Complex::at(radius, first + angle * k as f64))
    };
    hull.windows(2).flat_map(circle).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The coefficients of the polynomial that has these roots.
    fn with_roots(roots: &[Complex]) -> Vec<f64> {
        let mut all = vec![Complex::real(1.0)];
        for root in roots {
            all.push(Complex::ZERO);
            for i in (1..all.len()).rev() {
                all[i] = all[i] - all[i - 1] * *root;
            }
        }
        all[1..].iter().map(|a| a.re).collect()
    }

    fn sorted(mut roots: Vec<Complex>) -> Vec<Complex> {
        roots.sort_by(|a, b| a.im.total_cmp(&b.im).then(a.re.total_cmp(&b.re)));
        roots
    }

    #[test]
    fn the_roots_of_a_polynomial_made_of_them_are_found() {
        let known: Vec<Complex> = [(0.9, 0.0), (-0.5, 0.0), (0.1, 0.3), (0.1, -0.3), (1e-6, 0.0)]
            .map(|(re, im)| Complex { re, im })
            .into();
        let found = sorted(roots(&with_roots(&known)).unwrap());
        for (found, known) in found.iter().zip(sorted(known)) {
            assert!((*found - known).modulus() < 1e-13 * known.modulus(), "{found:?} {known:?}");
        }
    }

    #[test]
    fn the_roots_of_unity_lie_on_the_unit_circle() {
        let mut coefficients = vec![0.0; 1000];
        coefficients[999] = -1.0;
        let found = roots(&coefficients).unwrap();
        assert_eq!(found.len(), 1000);
        assert!(found.iter().all(|x| (x.modulus() - 1.0).abs() < 1e-14));
    }

    #[test]
    fn roots_at_zero_are_left_out_and_nothing_has_none() {
        assert_eq!(roots(&[]).unwrap(), []);
        assert_eq!(roots(&[0.0, 0.0]).unwrap(), []);
        let found = roots(&[-0.25, 0.0]).unwrap();
        assert_eq!(found.len(), 1);
        assert!((found[0] - Complex::real(0.25)).modulus() < 1e-16);
    }

    proptest! {
        #[test]
        fn their_sum_and_product_are_the_coefficients(shares in prop::collection::vec(1e-3f64..1.0, 1..80)) {
            let fall = |size: &mut f64, share: f64| { *size *= share; Some(*size) };
            let coefficients: Vec<f64> = shares.iter().copied().scan(1.0, fall).collect();
            let found = roots(&coefficients).unwrap();
            prop_assert_eq!(found.len(), coefficients.len());
            let sum = found.iter().fold(Complex::ZERO, |sum, x| sum + *x);
            prop_assert!((sum.re + coefficients[0]).abs() < 1e-12 && sum.im.abs() < 1e-12);
            let logs: f64 = found.iter().map(|x| libm::log(x.modulus())).sum();
            let last = coefficients[coefficients.len() - 1];
            prop_assert!((logs / libm::log(last) - 1.0).abs() < 1e-10, "{} {}", logs, last);
        }
    }
}
