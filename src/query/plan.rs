//! How polars is to carry out a statement: in one piece, on one thread, groups in the order in
//! which they come.

use std::sync::Arc;

use polars::prelude::{DataFrame, DslPlan, LazyFrame, PolarsResult, lit};

/// Carries out what a statement means.
///
/// # Errors
/// What polars says.
pub fn collect(lazy: LazyFrame) -> PolarsResult<DataFrame> {
    LazyFrame::from(grouped_in_memory(lazy.logical_plan)).collect()
}

/// The same plan with groups that no streaming engine makes: polars takes it for one or two plain
/// keys, with the rows cut up by threads, and here it is not built in. So each grouping has two
/// more keys, the same for all rows. What is selected from the groups goes by name and has
/// neither.
fn grouped_in_memory(plan: DslPlan) -> DslPlan {
    use DslPlan::{
        Cache, ExtContext, Filter, GroupBy, HConcat, HStack, IR, Join, MapFunction, Select, Slice,
        Sort, Union,
    };
    let of = |input: Arc<DslPlan>| Arc::new(grouped_in_memory(Arc::unwrap_or_clone(input)));
    let all = |plans: Vec<DslPlan>| plans.into_iter().map(grouped_in_memory).collect();
    match plan {
        GroupBy { input, mut keys, predicates, aggs, options, apply, .. } => {
            keys.extend(["key added 1", "key added 2"].map(|name| lit(true).alias(name)));
            let input = of(input);
            GroupBy { input, keys, predicates, aggs, maintain_order: true, options, apply }
        }
        Filter { input, predicate } => Filter { input: of(input), predicate },
        Cache { input, id } => Cache { input: of(input), id },
        Select { expr, input, options } => Select { expr, input: of(input), options },
        HStack { input, exprs, options } => HStack { input: of(input), exprs, options },
        Slice { input, offset, len } => Slice { input: of(input), offset, len },
        MapFunction { input, function } => MapFunction { input: of(input), function },
        Union { inputs, args } => Union { inputs: all(inputs), args },
        HConcat { inputs, options } => HConcat { inputs: all(inputs), options },
        DslPlan::Distinct { input, options } => DslPlan::Distinct { input: of(input), options },
        ExtContext { input, contexts } => ExtContext { input: of(input), contexts: all(contexts) },
        Sort { input, by_column, slice, sort_options } => {
            Sort { input: of(input), by_column, slice, sort_options }
        }
        Join { input_left, input_right, left_on, right_on, predicates, options } => {
            let (input_left, input_right) = (of(input_left), of(input_right));
            Join { input_left, input_right, left_on, right_on, predicates, options }
        }
        // What polars has worked out already, of the plan as it was.
        IR { dsl, .. } => grouped_in_memory(Arc::unwrap_or_clone(dsl)),
        other => other,
    }
}
