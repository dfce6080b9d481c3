//! Which rows of tables make which row of an answer: columns of the answer followed back, through
//! what a statement defines itself, to the tables they are taken from. A row of a table makes
//! those rows of the answer that have its values there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, JoinConstraint, JoinOperator, Query, Select, SelectItem,
    SetExpr, TableFactor, Visit, Visitor,
};

/// What tells the rows of an answer apart within one `select`: a column of the answer, and what
/// a row that is taken has to have in it.
pub(crate) type Telling = Vec<(usize, Expr)>;

/// For each `select` of a query, as it is written, what tells in it. `whole` names what the
/// statement defines and uses in several places: all of its rows make each row of the answer.
pub(crate) fn telling(query: &Query, whole: &BTreeSet<String>) -> BTreeMap<String, Telling> {
    let mut trace = Trace { defined: BTreeMap::new(), found: BTreeMap::new() };
    for defined in query.with.iter().flat_map(|with| &with.cte_tables) {
        let name = &defined.alias.name.value;
        if !whole.contains(name) {
            trace.defined.insert(name, &defined.query);
        }
    }
    if let Some(select) = first_select(&query.body) {
        // With a star among them the columns of the answer have other places.
        let names: Option<Vec<String>> = select.projection.iter().map(output_name).collect();
        let wanted = names.unwrap_or_default().into_iter().enumerate().collect();
        trace.body(&query.body, wanted);
    }
    trace.found
}

struct Trace<'a> {
    /// What the statement defines, by name.
    defined: BTreeMap<&'a str, &'a Query>,
    found: BTreeMap<String, Telling>,
}

impl<'a> Trace<'a> {
    /// Follows columns of the answer into a body, each by the name it has there.
    fn body(&mut self, body: &'a SetExpr, wanted: Vec<(usize, String)>) {
        match body {
            SetExpr::Select(select) => {
                let tells = |(i, name): (usize, String)| Some((i, output(select, &name)?));
                self.select(select, wanted.into_iter().filter_map(tells).collect());
            }
            SetExpr::Query(query) => self.body(&query.body, wanted),
            // Columns of a union belong together by their places.
            SetExpr::SetOperation { left, right, .. } => {
                let names = |side: &SetExpr| -> Option<Vec<Option<String>>> {
                    let items = &first_select(side)?.projection;
                    let is_star = |item: &SelectItem| output_name(item).is_none();
                    let whole = !items.iter().any(is_star);
                    whole.then(|| items.iter().map(output_name).collect())
                };
                let (of_left, of_right) = (names(left), names(right));
                let beside = |(i, name): &(usize, String)| {
                    let place = of_left.as_ref()?.iter().position(|n| n.as_ref() == Some(name))?;
                    Some((*i, of_right.as_ref()?.get(place)?.clone()?))
                };
                let on_the_right = wanted.iter().filter_map(beside).collect();
                self.body(left, wanted);
                self.body(right, on_the_right);
            }
            _ => {}
        }
    }

    fn select(&mut self, select: &'a Select, tells: Telling) {
        let is_again = self.found.contains_key(&select.to_string());
        let is_whole = is_again || makes_more_than_its_row(select);
        let mut tells = if is_whole { Vec::new() } else { tells };
        also_joined(select, &mut tells);
        self.found.insert(select.to_string(), tells.clone());
        let from = select.from.iter();
        let factors: Vec<&TableFactor> = from
            .flat_map(|from| {
                std::iter::once(&from.relation).chain(from.joins.iter().map(|j| &j.relation))
            })
            .collect();
        let alone = factors.len() == 1;
        for factor in factors {
            let (name, body) = match factor {
                TableFactor::Table { name, alias, .. } => {
                    let own = name.to_string();
                    let Some(query) = self.defined.get(own.as_str()) else { continue };
                    let alias = alias.as_ref().map(|alias| alias.name.value.clone());
                    (alias.unwrap_or(own), &query.body)
                }
                TableFactor::Derived { subquery, alias, .. } => {
                    let alias = alias.as_ref().map(|alias| alias.name.value.clone());
                    (alias.unwrap_or_default(), &subquery.body)
                }
                _ => continue,
            };
            let of_factor = |(i, expr): &(usize, Expr)| match expr {
                Expr::Identifier(column) if alone => Some((*i, column.value.clone())),
                Expr::CompoundIdentifier(parts) => match &parts[..] {
                    [table, column] if table.value == name => Some((*i, column.value.clone())),
                    _ => None,
                },
                _ => None,
            };
            self.body(body, tells.iter().filter_map(of_factor).collect());
        }
    }
}

/// The first `select` of a body: it names the columns.
fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => first_select(&query.body),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}

/// What an item of a `select` is called in its answer; nothing for a star.
fn output_name(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
        SelectItem::UnnamedExpr(Expr::Identifier(column)) => Some(column.value.clone()),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
            parts.last().map(|column| column.value.clone())
        }
        SelectItem::UnnamedExpr(other) => Some(other.to_string()),
        _ => None,
    }
}

/// What a column of a `select` is, if it is the same for all rows that make a row of its answer.
fn output(select: &Select, name: &str) -> Option<Expr> {
    let own = select.projection.iter().find(|item| output_name(item).as_deref() == Some(name));
    let expr = match own {
        Some(SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr)) => expr,
        Some(_) => return None,
        None => {
            let is_star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_));
            let any = select.projection.iter().any(is_star);
            return any.then(|| Expr::Identifier(name.into()));
        }
    };
    let same = match &select.group_by {
        GroupByExpr::Expressions(by, _) if !by.is_empty() => {
            by.iter().any(|key| key == expr || key.to_string() == name)
        }
        GroupByExpr::All(_) => false,
        GroupByExpr::Expressions(..) => !has(&select.projection, is_no_plain_function),
    };
    same.then(|| expr.clone())
}

/// Whether a function may be of several rows at once.
fn is_no_plain_function(function: &sqlparser::ast::Function) -> bool {
    const PLAIN: [&str; 10] =
        ["abs", "round", "floor", "ceil", "coalesce", "nullif", "lower", "upper", "concat", "sqrt"];
    !PLAIN.contains(&function.name.to_string().to_lowercase().as_str())
}

/// With a window a row of the answer is made of more rows than its own.
fn makes_more_than_its_row(select: &Select) -> bool {
    has(&select.projection, |function| function.over.is_some())
}

/// Whether there is such a function among some items, outside of queries of their own.
fn has(items: &[SelectItem], is_such: fn(&sqlparser::ast::Function) -> bool) -> bool {
    struct Looking(fn(&sqlparser::ast::Function) -> bool);
    impl Visitor for Looking {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Function(function) if (self.0)(function) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        }
    }
    items.iter().any(|item| item.visit(&mut Looking(is_such)).is_break())
}

/// What tables are joined by being equal tells as much.
fn also_joined(select: &Select, tells: &mut Telling) {
    let mut equal: Vec<(&Expr, &Expr)> = Vec::new();
    for join in select.from.iter().flat_map(|from| &from.joins) {
        if let JoinOperator::Join(JoinConstraint::On(on))
        | JoinOperator::Inner(JoinConstraint::On(on)) = &join.join_operator
        {
            equalities(on, &mut equal);
        }
    }
    let other = |expr: &Expr| {
        let beside = |(a, b): &(&Expr, &Expr)| {
            if *a == expr {
                Some((*b).clone())
            } else if *b == expr {
                Some((*a).clone())
            } else {
                None
            }
        };
        equal.iter().filter_map(beside).collect::<Vec<_>>()
    };
    let more: Telling =
        tells.iter().flat_map(|(i, expr)| other(expr).into_iter().map(|same| (*i, same))).collect();
    tells.extend(more);
}

fn equalities<'e>(on: &'e Expr, into: &mut Vec<(&'e Expr, &'e Expr)>) {
    match on {
        Expr::Nested(inner) => equalities(inner, into),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            equalities(left, into);
            equalities(right, into);
        }
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => into.push((left, right)),
        _ => {}
    }
}
