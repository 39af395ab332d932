//! What measures and groupings say about themselves.

use arrow_schema::DataType;
use asap_types::{AccuracyTarget, AggIntent, AggregateFacts, Expr, F64Bits, Reduction, Volatility};
use rstest::rstest;

use crate::build::{col, plus, random};

const PLAIN: AggregateFacts = AggregateFacts {
    data_type: DataType::Int64,
    nullable: true,
    volatility: Volatility::Stable,
    can_fail: false,
    skips_nulls: true,
    order_matters: false,
};

fn named(args: Vec<Expr>, facts: AggregateFacts) -> AggIntent {
    AggIntent::Named { name: "my_aggregate".to_owned(), args, distinct: false, facts }
}

#[rstest]
#[case::count(AggIntent::count(), &[])]
#[case::approximate_count(AggIntent::Count { accuracy: AccuracyTarget::Epsilon { epsilon: F64Bits::new(0.5) } }, &[])]
#[case::sum(AggIntent::Sum { arg: col(1) }, &[1])]
#[case::sum0(AggIntent::Sum0 { arg: col(1) }, &[1])]
#[case::min(AggIntent::Min { arg: col(1) }, &[1])]
#[case::max(AggIntent::Max { arg: col(1) }, &[1])]
#[case::avg(AggIntent::Avg { arg: col(1) }, &[1])]
#[case::rate(AggIntent::Rate { arg: col(1) }, &[1])]
#[case::named(named(vec![col(2), col(1)], PLAIN), &[2, 1])]
fn arguments(#[case] measure: AggIntent, #[case] columns: &[usize]) {
    let columns: Vec<Expr> = columns.iter().copied().map(col).collect();
    assert_eq!(measure.args(), columns);
}

#[rstest]
#[case::plain(named(vec![col(0)], PLAIN), false)]
#[case::volatile_function(named(vec![col(0)], AggregateFacts { volatility: Volatility::Volatile, ..PLAIN }), true)]
#[case::volatile_argument(named(vec![col(0), plus(col(1), random())], PLAIN), true)]
#[case::sum(AggIntent::Sum { arg: col(0) }, false)]
#[case::sum_of_random(AggIntent::Sum { arg: random() }, true)]
fn volatility(#[case] measure: AggIntent, #[case] is_volatile: bool) {
    assert_eq!(measure.is_volatile(), is_volatile);
}

#[rstest]
#[case::plain(named(vec![col(0)], PLAIN), false, false)]
#[case::fails(named(vec![col(0)], AggregateFacts { can_fail: true, ..PLAIN }), true, false)]
#[case::ordered(named(vec![col(0)], AggregateFacts { order_matters: true, ..PLAIN }), false, true)]
#[case::sum(AggIntent::Sum { arg: col(0) }, false, false)]
fn recorded_facts(#[case] measure: AggIntent, #[case] can_fail: bool, #[case] order_matters: bool) {
    assert_eq!((measure.can_fail(), measure.order_matters()), (can_fail, order_matters));
}

#[rstest]
#[case::keys(Reduction::by(vec![col(1)]), &[1], &[], true)]
#[case::total(Reduction::by(vec![]), &[], &[], true)]
#[case::labels(Reduction::Reduce { by: vec![col(1)], without: vec![col(2), col(3)] }, &[1], &[2, 3], false)]
#[case::entity(Reduction::PerEntity, &[], &[], false)]
fn groupings(
    #[case] reduction: Reduction,
    #[case] keys: &[usize],
    #[case] without: &[usize],
    #[case] is_relational: bool,
) {
    let columns = |columns: &[usize]| columns.iter().copied().map(col).collect::<Vec<Expr>>();
    assert_eq!(reduction.keys(), columns(keys));
    assert_eq!(reduction.without(), columns(without));
    assert_eq!(reduction.is_relational(), is_relational);
}
