//! What of ours answers a published number: a table's cells, a model value, a setting, or
//! arithmetic on these. It is data (`analysis/numbers.yaml`); no number of ours is in it.

use serde_yaml::{Mapping, Value};

use super::pattern::Pattern;

/// Patterns per column, all of which have to match.
pub type Where = Vec<(String, Vec<Pattern>)>;

/// A quantity of ours.
#[derive(Debug, Clone)]
pub enum Quantity {
    /// Values of the models, by their ids in `model_values.json`.
    Model(Vec<String>),
    /// Values in a configuration file, by dotted paths; a path to a list gives its items.
    Config(String, Vec<String>),
    /// Cells of a derived table.
    Cells(Cells),
    /// Another number of the ledger.
    Number(String),
    /// One after the other.
    List(Vec<Quantity>),
    /// The least and the largest of all.
    Range(Vec<Quantity>),
    /// One value of many.
    Reduce(Reduction, Box<Quantity>),
    /// Element by element; a single value stands for all.
    Combine(Operation, Box<(Quantity, Quantity)>),
    /// Without their signs.
    Abs(Box<Quantity>),
    /// In another unit.
    Scale(f64, Box<Quantity>),
    /// What a published bound is held against: ours may be smaller (`at_most`) or larger.
    Bound(Bound, Box<Quantity>),
    /// A quantity that could hardly have come out otherwise, and why: fitted to the
    /// published value, or fixed by what was run.
    ByConstruction(String, Box<Quantity>),
    /// How many match.
    Count(Box<Quantity>, Vec<Pattern>),
    /// How many match, of how many.
    ShareOf(Box<Quantity>, Vec<Pattern>),
    /// Only the cluster's data can answer: where they would lie, and why.
    Nova(String, String),
    /// Nothing can answer, and why.
    None(String),
}

/// Which side of a published bound agrees with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The paper states that it is at most this.
    AtMost,
    /// The paper states that it is at least this.
    AtLeast,
}

/// Cells of a derived table.
#[derive(Debug, Clone)]
pub struct Cells {
    /// The table.
    pub table: String,
    /// Which rows.
    pub rows: Where,
    /// Which columns.
    pub columns: Vec<String>,
    /// What is made of them.
    pub take: Take,
    /// For [`Take::Of`], what the rows are asked.
    pub is: Where,
}

/// What is made of a table's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Each, row by row.
    Each,
    /// The least and the largest.
    Range,
    /// One value of all.
    One(Reduction),
    /// How many rows there are.
    Count,
    /// How many rows are as asked, of how many.
    Of,
}

/// One value of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The least.
    Min,
    /// The largest.
    Max,
    /// The mean.
    Mean,
    /// The median.
    Median,
    /// The sum.
    Sum,
    /// The first.
    First,
    /// The last.
    Last,
}

/// Arithmetic on two quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The first over the second.
    Ratio,
    /// The first less the second.
    Difference,
    /// The first and the second.
    Total,
    /// The first times the second.
    Product,
}

const REDUCTIONS: [(&str, Reduction); 7] = [
    ("min", Reduction::Min),
    ("max", Reduction::Max),
    ("mean", Reduction::Mean),
    ("median", Reduction::Median),
    ("sum", Reduction::Sum),
    ("first", Reduction::First),
    ("last", Reduction::Last),
];

const OPERATIONS: [(&str, Operation); 4] = [
    ("ratio", Operation::Ratio),
    ("difference", Operation::Difference),
    ("total", Operation::Total),
    ("product", Operation::Product),
];

impl Quantity {
    /// Reads one from YAML.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(value: &Value) -> Result<Self, String> {
        let Value::Mapping(map) = value else {
            return Err("expected a quantity, such as {table: ..., column: ...}".into());
        };
        let only = |keys: &[&str]| -> Result<(), String> {
            let unknown = map.keys().filter_map(Value::as_str).find(|key| !keys.contains(key));
            unknown.map_or(Ok(()), |key| Err(format!("{key}: not known beside {}", keys[0])))
        };
        let get = |key: &str| map.get(key);
        if let Some(ids) = get("model") {
            only(&["model"])?;
            return Ok(Self::Model(words(ids)?));
        }
        if let Some(file) = get("config") {
            only(&["config", "at"])?;
            let at = get("at").ok_or("config: at is missing")?;
            return Ok(Self::Config(word(file)?, words(at)?));
        }
        if get("table").is_some() {
            only(&["table", "where", "column", "take", "is"])?;
            return cells(map).map(Self::Cells);
        }
        if let Some(path) = get("nova") {
            only(&["nova", "because"])?;
            let because = get("because").map_or(Ok(String::new()), word)?;
            return Ok(Self::Nova(word(path)?, because));
        }
        if let Some(why) = get("by_construction") {
            only(&["by_construction", "of"])?;
            let of = Self::parse(get("of").ok_or("by_construction: of is missing")?)?;
            return Ok(Self::ByConstruction(word(why)?, Box::new(of)));
        }
        if let Some(factor) = get("scale") {
            only(&["scale", "of"])?;
            let factor = factor.as_f64().ok_or("scale: expected a number")?;
            return Ok(Self::Scale(
                factor,
                Box::new(Self::parse(get("of").ok_or("scale: of is missing")?)?),
            ));
        }
        for (key, share) in [("count", false), ("share_of", true)] {
            if let Some(of) = get(key) {
                only(&[key, "is"])?;
                let is = Pattern::parse_any(get("is").ok_or(format!("{key}: is is missing"))?)?;
                let of = Box::new(Self::parse_list(of)?);
                return Ok(if share { Self::ShareOf(of, is) } else { Self::Count(of, is) });
            }
        }
        let Some((key, value)) = map.iter().next().and_then(|(k, v)| Some((k.as_str()?, v))) else {
            return Err("expected a quantity, found an empty map".into());
        };
        only(&[key])?;
        if let Some((_, reduction)) = REDUCTIONS.iter().find(|(name, _)| *name == key) {
            return Ok(Self::Reduce(*reduction, Box::new(Self::parse_list(value)?)));
        }
        if let Some((_, operation)) = OPERATIONS.iter().find(|(name, _)| *name == key) {
            let [a, b] = items(value)?
                .try_into()
                .map_err(|_| format!("{key}: expected a list of two quantities"))?;
            return Ok(Self::Combine(*operation, Box::new((a, b))));
        }
        match key {
            "list" => Ok(Self::List(items(value)?)),
            "range" => match value {
                Value::Sequence(_) => Ok(Self::Range(items(value)?)),
                one => Ok(Self::Range(vec![Self::parse(one)?])),
            },
            "at_most" => Ok(Self::Bound(Bound::AtMost, Box::new(Self::parse(value)?))),
            "at_least" => Ok(Self::Bound(Bound::AtLeast, Box::new(Self::parse(value)?))),
            "abs" => Ok(Self::Abs(Box::new(Self::parse(value)?))),
            "percent" => Ok(Self::Scale(100.0, Box::new(Self::parse(value)?))),
            "number" => Ok(Self::Number(word(value)?)),
            "none" => Ok(Self::None(word(value)?)),
            _ => Err(format!("{key}: no such quantity")),
        }
    }

    /// A quantity, or a list of them as one.
    fn parse_list(value: &Value) -> Result<Self, String> {
        match value {
            Value::Sequence(_) => items(value).map(Self::List),
            one => Self::parse(one),
        }
    }
}

fn cells(map: &Mapping) -> Result<Cells, String> {
    let take = match map.get("take").map_or(Ok("each".to_owned()), word)?.as_str() {
        "each" => Take::Each,
        "range" => Take::Range,
        "count" => Take::Count,
        "of" => Take::Of,
        other => match REDUCTIONS.iter().find(|(name, _)| *name == other) {
            Some((_, reduction)) => Take::One(*reduction),
            None => return Err(format!("take: {other} is not known")),
        },
    };
    let columns = map.get("column").map_or(Ok(Vec::new()), words)?;
    if columns.is_empty() && !matches!(take, Take::Count | Take::Of) {
        return Err("column is missing".into());
    }
    let is = map.get("is").map_or(Ok(Vec::new()), patterns)?;
    if (take == Take::Of) == is.is_empty() {
        return Err("is belongs to take: of, and take: of needs it".into());
    }
    Ok(Cells {
        table: map.get("table").map_or(Err("table is missing".into()), word)?,
        rows: map.get("where").map_or(Ok(Vec::new()), patterns)?,
        columns,
        take,
        is,
    })
}

fn patterns(value: &Value) -> Result<Where, String> {
    let Value::Mapping(map) = value else { return Err("expected column: pattern".into()) };
    map.iter()
        .map(|(column, pattern)| {
            let column = word(column)?;
            let any = Pattern::parse_any(pattern).map_err(|e| format!("{column}: {e}"))?;
            Ok((column, any))
        })
        .collect()
}

fn items(value: &Value) -> Result<Vec<Quantity>, String> {
    match value {
        Value::Sequence(items) => items.iter().map(Quantity::parse).collect(),
        _ => Err("expected a list of quantities".into()),
    }
}

fn word(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(yes) => Ok(if *yes { "yes" } else { "no" }.into()),
        _ => Err("expected a word".into()),
    }
}

fn words(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Sequence(items) => items.iter().map(word).collect(),
        one => Ok(vec![word(one)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Quantity, String> {
        Quantity::parse(&serde_yaml::from_str(text).unwrap())
    }

    #[test]
    fn every_form_is_read() {
        for text in [
            "{model: A001}",
            "{config: configs/protocols/paper.yaml, at: [paired.horizon_s]}",
            "{table: t, where: {arm: [burst, capped], rate: 1.35}, column: x, take: median}",
            "{table: t, take: of, is: {state: TRAPPED}}",
            "{percent: {ratio: [{model: A}, {sum: [{model: B}, {number: other}]}]}}",
            "{share_of: {table: t, column: x}, is: '>0.5'}",
            "{scale: 0.001, of: {model: A}}",
            "{by_construction: fitted, of: {at_most: {model: A}}}",
            "{nova: results/nova/x, because: logs}",
            "{none: a fact about the text}",
        ] {
            assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
        }
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        for (text, says) in [
            ("{table: t}", "column is missing"),
            ("{table: t, column: x, take: most}", "take: most is not known"),
            ("{table: t, take: of}", "is belongs to take: of"),
            ("{ratio: [{model: A}]}", "ratio: expected a list of two quantities"),
            ("{constant: 3}", "constant: no such quantity"),
            ("3", "expected a quantity"),
            ("{model: A, where: {}}", "where: not known beside model"),
        ] {
            assert!(parse(text).unwrap_err().contains(says), "{text}: {:?}", parse(text));
        }
    }
}
