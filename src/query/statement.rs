//! A statement taken apart: that it is one `select`, the tables it names, and for each part
//! of it the statement that gives the rows it takes. And put right, where the engine below
//! means by the same words something else than people do.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    self, BinaryOperator, CastKind, DataType, ExactNumberInfo, Expr, GroupByExpr, OrderBy,
    OrderByKind, OrderByOptions, Query, Select, SetExpr, TableFactor, TableWithJoins, Value, Visit,
    VisitMut, Visitor, VisitorMut,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;

use super::trace::{Telling, telling};
use super::{QueryError, ROW};

/// A statement that was understood.
#[derive(Debug)]
pub struct Statement {
    /// The tables and views it names; not those it defines itself (`with`).
    pub names: BTreeSet<String>,
    query: Box<Query>,
    /// As it is to be asked, where no select in it stands for a value.
    pub(super) fixed: Option<Prepared>,
}

/// A table in one `from`.
#[derive(Debug, Clone)]
pub struct Part {
    /// The table or view.
    pub name: String,
    /// The statement that gives the places of the rows that are taken from it, and beside each
    /// what `tells` of it.
    pub rows: String,
    /// The columns of the answer in which a row has these values if this row made it.
    pub tells: Vec<usize>,
}

/// A statement put right, and what it takes.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    /// The statement.
    pub sql: String,
    /// What it takes from tables, part by part.
    pub parts: Vec<Part>,
}

/// A query put right.
struct Right {
    query: Box<Query>,
    /// What it defines, as the beginning of a statement.
    with: String,
    /// What its values were taken from.
    parts: Vec<Part>,
}

impl Statement {
    /// Understands one `select`.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn parse(sql: &str) -> Result<Self, QueryError> {
        let wrong = |why: &str| QueryError(why.into());
        let parsed = Parser::parse_sql(&GenericDialect {}, sql).map_err(|error| {
            let words = error.to_string();
            wrong(words.strip_prefix("sql parser error: ").unwrap_or(&words))
        })?;
        let mut parsed = parsed.into_iter();
        let query = match (parsed.next(), parsed.next()) {
            (Some(ast::Statement::Query(query)), None) => query,
            (None, _) => return Err(wrong("expected a select, found nothing")),
            (_, None) => return Err(wrong("expected a select: nothing here can be changed")),
            _ => return Err(wrong("expected one select, found several statements")),
        };
        let mut found = Found::default();
        if let ControlFlow::Break(message) = query.visit(&mut found) {
            return Err(QueryError(message));
        }
        let parts = found.parts("", &BTreeMap::new());
        let names = parts.into_iter().filter(|part| !found.own.contains(&part.name));
        let names = names.map(|part| part.name).collect();
        let mut statement = Self { names, query, fixed: None };
        statement.fixed = statement.prepare(|_, _| Err(QueryError::failed())).ok();
        Ok(statement)
    }

    /// The statement as the engine is to be asked it. `value` answers a select that stands
    /// for one value, with what is taken for it.
    ///
    /// # Errors
    /// What `value` says.
    pub(super) fn sql(
        &self,
        value: impl FnMut(&str, &[Part]) -> Result<Value, QueryError>,
    ) -> Result<Cow<'_, str>, QueryError> {
        match &self.fixed {
            Some(fixed) => Ok(Cow::Borrowed(&fixed.sql)),
            None => Ok(Cow::Owned(self.put_right(value)?.query.to_string())),
        }
    }

    /// The same, and what it takes.
    ///
    /// # Errors
    /// What `value` says.
    pub(super) fn prepare(
        &self,
        value: impl FnMut(&str, &[Part]) -> Result<Value, QueryError>,
    ) -> Result<Prepared, QueryError> {
        let Right { query, with, mut parts } = self.put_right(value)?;
        let found = Found::of(&query);
        // What a value is taken from may be the statement's own.
        let mut named: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
        named.extend(found.parts("", &BTreeMap::new()).into_iter().map(|part| part.name));
        let several = |name: &&String| named.iter().filter(|other| other == name).count() > 1;
        let whole = named.iter().filter(several).cloned().collect();
        parts.extend(found.parts(&with, &telling(&query, &whole)));
        let defined = query.with.iter().flat_map(|with| &with.cte_tables);
        let own: BTreeSet<&str> = defined.map(|of| of.alias.name.value.as_str()).collect();
        parts.retain(|part| !own.contains(part.name.as_str()));
        Ok(Prepared { sql: query.to_string(), parts })
    }

    fn put_right(
        &self,
        mut value: impl FnMut(&str, &[Part]) -> Result<Value, QueryError>,
    ) -> Result<Right, QueryError> {
        let mut query = self.query.clone();
        let mut parts = Vec::new();
        // What it defines comes first, one after the other: each may be asked for values by
        // what follows.
        let defined = query.with.as_ref().map_or(0, |with| with.cte_tables.len());
        for i in 0..defined {
            let with = first_of(&query, i);
            if let Some(of) = query.with.as_mut().and_then(|with| with.cte_tables.get_mut(i)) {
                parts.extend(put_right(&mut of.query, &mut value, with)?);
            }
        }
        let with = first_of(&query, defined);
        parts.extend(put_right(&mut query, &mut value, with.clone())?);
        Ok(Right { query, with, parts })
    }
}

/// The first few of what a query defines, as the beginning of a statement.
fn first_of(query: &Query, few: usize) -> String {
    let Some(mut with) = query.with.clone().filter(|_| few > 0) else { return String::new() };
    with.cte_tables.truncate(few);
    format!("{with} ")
}

/// Puts a query right, and says what its values were taken from.
fn put_right(
    query: &mut Query,
    value: &mut impl FnMut(&str, &[Part]) -> Result<Value, QueryError>,
    with: String,
) -> Result<Vec<Part>, QueryError> {
    let mut put_right = PutRight { value, parts: Vec::new(), with };
    match VisitMut::visit(query, &mut put_right) {
        ControlFlow::Break(why) => Err(why),
        ControlFlow::Continue(()) => Ok(put_right.parts),
    }
}

/// Whether rows come in the order of the one table they are from.
fn keeps_order(body: &SetExpr) -> bool {
    let SetExpr::Select(select) = body else { return false };
    let one = matches!(select.from.as_slice(), [] | [_])
        && select.from.iter().all(|only| only.joins.is_empty());
    let grouped = match &select.group_by {
        GroupByExpr::All(_) => true,
        GroupByExpr::Expressions(by, _) => !by.is_empty(),
    };
    one && !grouped && select.distinct.is_none()
}

/// Functions whose last digits depend on the machine's library.
const NOT_EXACT: [&str; 18] = [
    "exp", "ln", "log", "log2", "log10", "log1p", "pow", "power", "cbrt", "sin", "cos", "tan",
    "cot", "asin", "acos", "atan", "atan2", "random",
];

/// Every `select` of a statement, and the names it defines itself.
#[derive(Default)]
struct Found {
    selects: Vec<Select>,
    own: BTreeSet<String>,
}

impl Visitor for Found {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        let with = query.with.iter().flat_map(|with| &with.cte_tables);
        self.own.extend(with.map(|defined| defined.alias.name.value.clone()));
        self.take(&query.body);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<String> {
        match factor {
            TableFactor::Table { args: None, .. }
            | TableFactor::Derived { .. }
            | TableFactor::NestedJoin { .. } => ControlFlow::Continue(()),
            other => ControlFlow::Break(format!("expected a table, found {other}")),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<String> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        let name = function.name.to_string().to_lowercase();
        if NOT_EXACT.contains(&name.as_str()) {
            let why = "its last digits are not the same on every machine";
            return ControlFlow::Break(format!("no function {name} here: {why}"));
        }
        ControlFlow::Continue(())
    }
}

impl Found {
    fn of(query: &Query) -> Self {
        let mut found = Self::default();
        let _: ControlFlow<String> = query.visit(&mut found);
        found
    }

    /// The selects of a body; those inside of queries of its own are visited there.
    fn take(&mut self, body: &SetExpr) {
        match body {
            SetExpr::Select(select) => self.selects.push((**select).clone()),
            SetExpr::SetOperation { left, right, .. } => {
                self.take(left);
                self.take(right);
            }
            _ => {}
        }
    }

    /// What each select takes from each table, those among them that `with` defines, and what
    /// tells in it.
    fn parts(&self, with: &str, telling: &BTreeMap<String, Telling>) -> Vec<Part> {
        let tells = |select: &Select| telling.get(&select.to_string());
        let parts = |select| parts_of(select, with, tells(select).map_or(&[][..], |t| &t[..]));
        self.selects.iter().flat_map(parts).collect()
    }
}

/// What a `select` takes from each table of its `from`.
fn parts_of(select: &Select, with: &str, telling: &[(usize, Expr)]) -> Vec<Part> {
    let tells: Vec<usize> = telling.iter().map(|(column, _)| *column).collect();
    let as_columns = telling.iter().enumerate().map(|(i, (_, e))| format!(", {e} as {ROW}_{i}"));
    let as_columns: String = as_columns.collect();
    let condition = select.selection.as_ref().map_or_else(String::new, |c| format!(" where {c}"));
    let of_from = |from: &TableWithJoins| {
        let factors = std::iter::once(&from.relation).chain(from.joins.iter().map(|j| &j.relation));
        let names: Vec<(String, Option<String>)> = factors
            .filter_map(|factor| match factor {
                TableFactor::Table { name, alias, .. } => {
                    let alias = alias.as_ref().map(|alias| alias.name.value.clone());
                    Some((unquoted(&name.to_string()), alias))
                }
                _ => None,
            })
            .collect();
        let alone = from.joins.is_empty() && select.from.len() == 1;
        let part = |(name, alias): (String, Option<String>)| {
            let row = match (alone, &alias) {
                (true, None) => ROW.to_owned(),
                (_, Some(alias)) => format!("{alias}.{ROW}"),
                (false, None) => format!("{name}.{ROW}"),
            };
            let rows = format!("{with}select {row}{as_columns} from {from}{condition}");
            Part { rows, tells: tells.clone(), name }
        };
        names.into_iter().map(part).collect::<Vec<_>>()
    };
    select.from.iter().flat_map(of_from).collect()
}

fn unquoted(name: &str) -> String {
    name.trim_matches(['"', '`']).to_owned()
}

/// Where the engine means something else: a division of whole numbers is cut there, a select
/// in place of a value and numbers such as 1e-4 are refused, and rows of groups and joins come
/// in any order: they are sorted by their columns from left to right, where nothing is asked.
struct PutRight<F> {
    value: F,
    parts: Vec<Part>,
    with: String,
}

impl<F: FnMut(&str, &[Part]) -> Result<Value, QueryError>> VisitorMut for PutRight<F> {
    type Break = QueryError;

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<QueryError> {
        if query.order_by.is_none() && !keeps_order(&query.body) {
            let options = OrderByOptions { asc: Some(true), nulls_first: Some(false) };
            query.order_by = Some(OrderBy { kind: OrderByKind::All(options), interpolate: None });
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<QueryError> {
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::Divide, .. } => {
                let of = std::mem::replace(left, Box::new(Expr::Value(Value::Null.into())));
                **left = Expr::Cast {
                    kind: CastKind::Cast,
                    expr: of,
                    data_type: DataType::Double(ExactNumberInfo::None),
                    format: None,
                };
            }
            Expr::Subquery(query) => {
                let parts = Found::of(query).parts(&self.with, &BTreeMap::new());
                let value = (self.value)(&format!("{}{query}", self.with), &parts);
                self.parts.extend(parts);
                match value {
                    Ok(value) => *expr = Expr::Value(value.into()),
                    Err(why) => return ControlFlow::Break(why),
                }
            }
            Expr::Value(value) => {
                if let Value::Number(text, _) = &mut value.value {
                    *text = with_point(text);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// A value in a statement, with all its digits.
pub fn literal(x: f64) -> Value {
    Value::Number(with_point(&format!("{x:?}")), false)
}

/// A number as the engine takes it: with a point where it has a power of ten.
fn with_point(number: &str) -> String {
    match number.split_once(['e', 'E']) {
        Some((digits, power)) if !digits.contains('.') => format!("{digits}.0e{power}"),
        _ => number.to_owned(),
    }
}
