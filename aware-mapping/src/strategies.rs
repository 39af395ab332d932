//! The presets: what each strategy may use of the one prover.

mod exact_summary;
mod multi_measure;
mod roll_up;

pub use exact_summary::ExactSummaryStrategy;
pub use multi_measure::MultiMeasureStrategy;
pub use roll_up::{RollupStrategy, is_legal_rollup_source};
