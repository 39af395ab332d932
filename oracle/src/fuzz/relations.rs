//! Metamorphic relations: what answers say of one another, whoever is right. One file each.

use super::check::CaseOutcome;
use super::judge::Judge;
use super::pushdown::PushdownSide;
use crate::Result;

/// Checks every relation on the case.
pub(super) async fn check(_side: &PushdownSide, _judge: &Judge<'_>, _outcome: &mut CaseOutcome) -> Result<()> {
    Ok(())
}
