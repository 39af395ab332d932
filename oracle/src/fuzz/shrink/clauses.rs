//! Fewer queries, with fewer clauses, in a plainer session.

use super::{Edit, edit_query, parts};
use crate::query::{Expr, Query, Source, Spelling};
use crate::recipe::{Recipe, Settings};

/// One query alone; then without some of them.
pub(super) fn fewer_queries(recipe: &Recipe) -> Vec<Edit> {
    let queries = recipe.workload.len();
    let alone = (0..queries).map(|at| -> Edit {
        Box::new(move |recipe| {
            recipe.workload = recipe.workload.drain(..).skip(at).take(1).collect();
        })
    });
    let fewer = parts(queries).into_iter().map(|part| -> Edit {
        Box::new(move |recipe| {
            recipe.workload.drain(part.clone());
        })
    });
    alone.chain(fewer).collect()
}

/// The session that nothing is set in; then one setting after the other.
pub(super) fn simpler_settings(recipe: &Recipe) -> Vec<Edit> {
    let plain = Settings::default();
    let mut edits: Vec<Edit> = vec![
        Box::new(|recipe| recipe.settings = Settings::default()),
        Box::new(|recipe| recipe.settings.pushdown.clear()),
        Box::new(move |recipe| recipe.settings.target_partitions = plain.target_partitions),
        Box::new(move |recipe| recipe.settings.batch_size = plain.batch_size),
        Box::new(|recipe| recipe.settings.in_memory = false),
        Box::new(|recipe| recipe.settings.text_views = false),
        Box::new(|recipe| recipe.settings.stock_provider = false),
        Box::new(|recipe| recipe.settings.zone_maps_read = false),
        Box::new(|recipe| recipe.settings.exact_floats = false),
        Box::new(|recipe| recipe.settings.price_seed = None),
        Box::new(|recipe| recipe.settings.memory_limit = None),
    ];
    for name in recipe.settings.pushdown.keys() {
        let name = name.clone();
        edits.push(Box::new(move |recipe| {
            recipe.settings.pushdown.remove(&name);
        }));
    }
    edits
}

/// Queries without one of their clauses, outputs or keys, or without a query nested in them.
pub(super) fn fewer_clauses(recipe: &Recipe) -> Vec<Edit> {
    let queries = recipe.workload.iter().enumerate();
    queries.flat_map(|(at, query)| of_query(at, query)).collect()
}

fn of_query(at: usize, query: &Query) -> Vec<Edit> {
    let mut edits = vec![
        edit_query(at, |query| {
            (query.limit, query.offset) = (None, None);
            query.order_by.clear();
        }),
        edit_query(at, |query| query.offset = None),
        edit_query(at, |query| query.grouping = None),
        edit_query(at, |query| query.distinct = false),
        edit_query(at, |query| query.key_spelling = Spelling::Usual),
        edit_query(at, |query| query.having = None),
        edit_query(at, |query| query.filter = None),
        edit_query(at, |query| query.limit = None),
        edit_query(at, only_nested),
        edit_query(at, unfold),
        edit_query(at, only_left),
        edit_query(at, |query| edit_right(query, |right| right.filter = None)),
        edit_query(at, |query| edit_right(query, |right| right.distinct = false)),
    ];
    edits.extend(
        parts(query.outputs.len()).into_iter().map(|part| {
            edit_query(at, move |query| part.clone().rev().for_each(|output| remove_output(query, output)))
        }),
    );
    edits.extend(
        (0..query.group_by.as_ref().map_or(0, Vec::len)).map(|key| edit_query(at, move |query| remove_key(query, key))),
    );
    edits.extend((0..query.order_by.len()).filter(|_| query.limit.is_none()).map(|key| {
        edit_query(at, move |query| {
            query.order_by.remove(key);
        })
    }));
    edits.extend((0..query.order_by.len()).map(|key| {
        edit_query(at, move |query| {
            if let Some(key) = query.order_by.get_mut(key) {
                (key.descending, key.nulls_first, key.spelling) = (false, None, Spelling::Usual);
            }
        })
    }));
    edits
}

/// Does the text say what the query means? That there is one group is told by aggregates alone.
pub(super) fn has_text(query: &Query) -> bool {
    let mut aggregates = false;
    for output in &query.outputs {
        output.expr.visit(&mut |node| aggregates |= matches!(node, Expr::Aggregate(_)));
    }
    let nested = match &query.source {
        Source::Nested { query, .. } => has_text(query),
        _ => true,
    };
    nested && (aggregates || !query.is_grand_total())
}

/// Removes an output, and its sort key; the last one stays.
pub(super) fn remove_output(query: &mut Query, output: usize) {
    if query.outputs.len() <= 1 || output >= query.outputs.len() {
        return;
    }
    query.outputs.remove(output);
    query.order_by.retain(|key| key.output != output);
    query.order_by.iter_mut().filter(|key| key.output > output).for_each(|key| key.output -= 1);
}

/// Removes a group key, and the outputs that repeat it. Grouping sets name keys by position, so they go first.
pub(super) fn remove_key(query: &mut Query, key: usize) {
    if query.grouping.is_some() {
        return;
    }
    let Some(keys) = query.group_by.as_mut().filter(|keys| key < keys.len()) else { return };
    let key = keys.remove(key);
    for output in (0..query.outputs.len()).rev() {
        if query.outputs[output].expr == key {
            remove_output(query, output);
        }
    }
    // The only output that there was.
    query.outputs.iter_mut().filter(|output| output.expr == key).for_each(|output| output.expr = Expr::count_all(None));
}

/// The nested query instead of the one around it.
fn only_nested(query: &mut Query) {
    if let Source::Nested { query: nested, .. } = &query.source {
        *query = nested.as_ref().clone();
    }
}

/// The query over what the nested one reads, if that only filters and computes.
fn unfold(query: &mut Query) {
    let Source::Nested { query: nested, .. } = &query.source else { return };
    if nested.group_by.is_some() || nested.limit.is_some() || nested.offset.is_some() || nested.distinct {
        return;
    }
    let nested = nested.as_ref().clone();
    inline_all(query, &nested);
    let filters = [nested.filter, query.filter.take()];
    let mut filters = filters.into_iter().flatten().collect::<Vec<_>>();
    query.filter = if filters.len() > 1 { Some(Expr::And(filters)) } else { filters.pop() };
    query.source = nested.source;
}

/// The left of a join alone. The right's columns are the table's, renamed.
fn only_left(query: &mut Query) {
    let Source::Join { left, right, .. } = query.source.clone() else { return };
    if let Source::Nested { query: renamed, .. } = *right {
        inline_all(query, &renamed);
    }
    query.source = *left;
}

/// Edits the right side of the query's join, if it has one.
pub(super) fn edit_right(query: &mut Query, edit: impl Fn(&mut Query)) {
    if let Source::Join { right, .. } = &mut query.source
        && let Source::Nested { query: right, .. } = right.as_mut()
    {
        edit(right);
    }
}

fn inline_all(query: &mut Query, nested: &Query) {
    let outer = query.filter.iter_mut().chain(query.group_by.iter_mut().flatten()).chain(&mut query.having);
    for expr in outer.chain(query.outputs.iter_mut().map(|output| &mut output.expr)) {
        inline(expr, nested);
    }
}

/// Replaces the nested query's columns by what they compute.
fn inline(expr: &mut Expr, nested: &Query) {
    if let Expr::Column(name) = expr {
        if let Some(output) = nested.outputs.iter().find(|output| output.name == *name) {
            expr.clone_from(&output.expr);
        }
    } else {
        expr.operands_mut().into_iter().for_each(|operand| inline(operand, nested));
    }
}
