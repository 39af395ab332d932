//! Two spellings of one query become one node.
//!
//! `cargo run -p asap-types --example canonical`

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{
    ColumnRef, CompareOp, Expr, Field, GraphFormat, Literal, NamedExpr, Operator, PostAsapDag, Predicate, Schema,
    TableRef, UnresolvedQuery, canonicalize, cse, resolve,
};

fn main() -> Result<(), Box<dyn Error>> {
    let schema =
        Schema::new(vec![Field::new("job", DataType::Utf8, true), Field::new("bytes", DataType::Int64, false)]);
    let (bytes, ten) = (Expr::Column(ColumnRef::bare("bytes")), Expr::Literal(Literal::int64(10)));
    let job = NamedExpr { expr: Expr::Column(ColumnRef::bare("job")), name: "job".to_owned() };
    // SELECT job FROM metrics WHERE <condition>
    let spelled = |condition: Expr<ColumnRef>| {
        let scan = Operator::Scan { table: TableRef::bare("metrics"), schema: schema.clone(), predicates: vec![] };
        let predicate = Predicate(condition);
        let filter = UnresolvedQuery::new(Operator::Filter { predicate, input: UnresolvedQuery::new(scan) });
        UnresolvedQuery::new(Operator::Project { columns: vec![job.clone()], input: filter })
    };
    let greater = spelled(bytes.clone().compare(CompareOp::Gt, ten.clone()));
    let less = spelled(ten.compare(CompareOp::Lt, bytes.clone()).and(bytes.is_not_null()));
    let roots = cse(&[canonicalize(&resolve(&greater)?)?, canonicalize(&resolve(&less)?)?])?;
    let dag = PostAsapDag::from_queries(["greater", "less"].into_iter().zip(&roots))?;
    writeln!(std::io::stdout(), "{}same node: {}", dag.render(GraphFormat::Tree), Arc::ptr_eq(&roots[0], &roots[1]))?;
    Ok(())
}
