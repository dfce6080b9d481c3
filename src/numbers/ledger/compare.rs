//! A published value against ours: the status, and by how much they are apart.

use crate::digits::fixed;

use super::Status;
use super::evaluate::{Found, Lack, Value};
use super::published::{Form, Kind};
use super::quantity::Bound;
use super::tolerance::{Tolerances, half_digit, width};

/// What is published.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// Its values.
    pub values: Vec<f64>,
    /// How they belong together.
    pub form: Form,
    /// Where they came from.
    pub kind: Kind,
    /// Their unit.
    pub unit: &'a str,
    /// Digits after the point that they are printed with.
    pub digits: usize,
    /// Printed with "about".
    pub approx: bool,
}

/// How ours compares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Ours, to the digits of the published value.
    pub ours: String,
    /// How it stands.
    pub status: Status,
    /// The largest distance, in words.
    pub gap: String,
    /// Why there is none, or what was allowed.
    pub because: String,
}

impl Compared {
    /// Nothing of ours, and why.
    pub fn lacking(lack: &Lack) -> Self {
        let (status, because) = match lack {
            Lack::Nova { path, because } if because.is_empty() => (Status::NeedsNova, path.clone()),
            Lack::Nova { path, because } => (Status::NeedsNova, format!("{path}: {because}")),
            Lack::Nothing { why, .. } => {
                return Self {
                    ours: "none".into(),
                    status: Status::Differs,
                    gap: String::new(),
                    because: why.clone(),
                };
            }
            Lack::NotComputed(why) => (Status::NotComputed, why.clone()),
            Lack::Broken(why) => (Status::NotComputed, format!("the binding is broken: {why}")),
        };
        Self { ours: String::new(), status, gap: String::new(), because }
    }
}

/// Compares.
pub fn compare(
    asked: &Asked<'_>,
    found: &Result<Found, Lack>,
    tolerances: &Tolerances,
) -> Compared {
    let found = match found {
        Ok(found) => found,
        Err(lack) => return Compared::lacking(lack),
    };
    let mut ours = Vec::new();
    for value in &found.values {
        match value {
            Value::Number(x) => ours.push(*x),
            Value::Text(text) => {
                let why = format!("ours is {text}, no number");
                return Compared::lacking(&Lack::NotComputed(why));
            }
        }
    }
    let on_runs = !found.uses.origins.is_empty();
    let shown = shown(&ours, asked);
    let judged = match asked.form {
        Form::Of if ours.len() == 2 && asked.values.len() == 2 => {
            of(asked, &ours, tolerances, on_runs)
        }
        _ if ours.len() == asked.values.len() => {
            each(asked, &ours, tolerances, on_runs, found.bound)
        }
        _ if on_runs => Ok(Judged {
            inside: false,
            gap: format!("{} values, ours are {}", asked.values.len(), ours.len()),
            allowed: "as many values".into(),
        }),
        _ => Err(format!("published {} values, ours are {}", asked.values.len(), ours.len())),
    };
    match judged {
        Err(why) => Compared { ours: shown, ..Compared::lacking(&Lack::NotComputed(why)) },
        Ok(Judged { inside, gap, mut allowed }) => Compared {
            ours: shown,
            status: match (inside, on_runs) {
                (false, _) => Status::Differs,
                (true, true) => Status::Replicated,
                (true, false) => Status::Reproduced,
            },
            gap,
            because: {
                if let Some(why) = &found.by_construction {
                    allowed += &format!("; by construction: {why}");
                }
                allowed
            },
        },
    }
}

fn shown(ours: &[f64], asked: &Asked<'_>) -> String {
    let shown: Vec<String> = ours.iter().map(|x| fixed(*x, asked.digits)).collect();
    shown.join(asked.form.joint())
}

struct Judged {
    inside: bool,
    gap: String,
    allowed: String,
}

/// k of n: the two shares.
fn of(
    asked: &Asked<'_>,
    ours: &[f64],
    tolerances: &Tolerances,
    on_runs: bool,
) -> Result<Judged, String> {
    if ours[1] == 0.0 || asked.values[1] == 0.0 {
        return Err("of none".into());
    }
    if !on_runs {
        let same = ours == asked.values.as_slice();
        return Ok(Judged { inside: same, gap: String::new(), allowed: "the same count".into() });
    }
    let distance = ours[0] / ours[1] - asked.values[0] / asked.values[1];
    let tolerance = tolerances.for_runs(asked.kind, asked.form, asked.unit);
    let allowed = tolerance.share.ok_or("no tolerance for shares")?;
    Ok(Judged {
        inside: distance.abs() <= allowed + 1e-12,
        gap: format!("{} of share", signed(distance, 2)),
        allowed: format!("share within {allowed}"),
    })
}

/// Value by value; of a range, ours has to lie in the published one, widened.
fn each(
    asked: &Asked<'_>,
    ours: &[f64],
    tolerances: &Tolerances,
    on_runs: bool,
    bound: Option<Bound>,
) -> Result<Judged, String> {
    let (mut inside, mut allowed) = (true, String::new());
    // The value that is farthest off for what it is allowed: (share of it, distance, value).
    let mut worst = (0.0_f64, 0.0_f64, 0.0_f64);
    for (i, (published, own)) in asked.values.iter().zip(ours).enumerate() {
        let half = half_digit(*published, asked.digits, asked.approx);
        let most = match (on_runs, bound) {
            // What is stated as a bound has no slack but its rounding.
            (_, Some(_)) => {
                allowed = "a bound".into();
                half
            }
            (true, None) => {
                let tolerance = tolerances.for_runs(asked.kind, asked.form, asked.unit);
                allowed = words(tolerance);
                width(tolerance, *published, half)
            }
            (false, None) => {
                allowed = "the printed digits".into();
                half * 2.0 * tolerances.exact.units_of_last_digit
            }
        };
        let distance = own - published;
        let outside = match (asked.form, on_runs, i) {
            _ if bound == Some(Bound::AtMost) => distance.max(0.0),
            _ if bound == Some(Bound::AtLeast) => (-distance).max(0.0),
            // A range of ours inside the published one agrees with it.
            (Form::Range, true, 0) => (-distance).max(0.0).max(own - asked.values[1]),
            (Form::Range, true, _) => distance.max(0.0).max(asked.values[0] - own),
            _ => distance.abs(),
        };
        inside &= outside <= most * (1.0 + 1e-9);
        let share = outside / most;
        if share > worst.0 || worst.1 == 0.0 {
            worst = (share, distance, *published);
        }
    }
    let (_, distance, at) = worst;
    let alike = fixed(distance, asked.digits + 1);
    let gap = if alike.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
        String::new()
    } else if at == 0.0 {
        signed(distance, asked.digits + 1)
    } else {
        format!("{} %", signed(100.0 * distance / at.abs(), 1))
    };
    Ok(Judged { inside, gap, allowed })
}

fn words(tolerance: &super::tolerance::Tolerance) -> String {
    let absolute = tolerance.absolute.map(|x| format!("{x}"));
    let relative = tolerance.relative.map(|x| format!("{} %", (1000.0 * x).round() / 10.0));
    let parts: Vec<String> = [absolute, relative].into_iter().flatten().collect();
    format!("within {}", parts.join(" or "))
}

fn signed(x: f64, digits: usize) -> String {
    let text = fixed(x, digits);
    if x > 0.0 { format!("+{text}") } else { text }
}
