//! Panics of libraries as errors.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;

use crate::ExecutionError;

/// Drives a future; a panic in it becomes [`ExecutionError::Panicked`], so that it ends one query and not the program.
///
/// What the future shares with the outside must be sound after a panic: true of sessions and of what only plans and reads.
///
/// # Errors
/// The panic.
pub async fn catch_panic<T>(work: impl Future<Output = T>) -> Result<T, ExecutionError> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| ExecutionError::Panicked(text(panic.as_ref())))
}

fn text(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "no message".to_owned(),
    }
}
