//! Room for recursion.

use std::panic::resume_unwind;
use std::thread::{Builder, scope};

/// Parser, planner and lowering recurse with frames of some 20 kB in unoptimized builds: fifty NOTs, or a hundred terms
/// joined by OR, would overflow the 2 MB of an ordinary thread. This is enough for
/// [`MAX_DEPTH`](crate::nesting::MAX_DEPTH) levels; only what is used of it becomes memory.
const STACK_BYTES: usize = 512 << 20;

/// Does the work on a thread of its own, for its stack. A panic passes through.
pub(crate) fn on_own_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    scope(|scope| match Builder::new().name("sql".to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, &work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(_) => work(),
    })
}
