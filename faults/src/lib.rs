//! Named faults that make answers wrong, planted one at a time, so that the oracle can show that it finds them.
//!
//! Each fault is a mistake that is easily made at one place of the code. The place has a hook, one statement behind the
//! feature `faults` of its crate:
//!
//! ```
//! # use asap_faults::{Fault, inject};
//! # let deleted = 3;
//! #[cfg(feature = "faults")]
//! let deleted = inject(Fault::DeletedRowsCounted, deleted, |_| 0);
//! # assert_eq!(deleted, 3);
//! ```
//!
//! The feature is off by default and only the oracle's own builds switch it on (`cargo xtask fuzz-equality --faults`);
//! without it nothing of this crate is compiled. The planted fault is that of the whole process.

mod catalog;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use catalog::Fault;

/// What a fault can show itself in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One query alone.
    Query,
    /// Queries that are planned together: two at least.
    Workload,
}

/// 0: no fault, else one more than the fault's position in [`Fault::ALL`].
static PLANTED: AtomicUsize = AtomicUsize::new(0);

/// By position in [`Fault::ALL`].
static REACHED: [AtomicBool; Fault::ALL.len()] = [const { AtomicBool::new(false) }; Fault::ALL.len()];

/// Plants a fault in place of the one before, or none, for all threads of this process.
pub fn plant(fault: Option<Fault>) {
    PLANTED.store(fault.and_then(position).map_or(0, |at| at + 1), Ordering::SeqCst);
}

/// The fault that is planted.
#[must_use]
pub fn planted() -> Option<Fault> {
    PLANTED.load(Ordering::SeqCst).checked_sub(1).and_then(|at| Fault::ALL.get(at).copied())
}

/// Whether this fault is planted. To be asked where the fault would change something, planted or not: it is then noted as
/// [reached](take_reached).
#[must_use]
pub fn is_planted(fault: Fault) -> bool {
    if let Some(reached) = position(fault).and_then(|at| REACHED.get(at)) {
        reached.store(true, Ordering::SeqCst);
    }
    planted() == Some(fault)
}

/// The right value, or what the fault makes of it where it is planted. The fault is reached if the two differ.
pub fn inject<T: Clone + PartialEq>(fault: Fault, right: T, wrong: impl FnOnce(T) -> T) -> T {
    let wrong = wrong(right.clone());
    if wrong != right && is_planted(fault) { wrong } else { right }
}

/// The faults that were reached by any thread since the last call. What did not reach a fault goes on as it did when the
/// fault is planted.
pub fn take_reached() -> Vec<Fault> {
    let is_reached = |flag: &AtomicBool| flag.swap(false, Ordering::SeqCst);
    Fault::ALL.iter().zip(&REACHED).filter(|(_, flag)| is_reached(flag)).map(|(fault, _)| *fault).collect()
}

fn position(fault: Fault) -> Option<usize> {
    Fault::ALL.iter().position(|known| *known == fault)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn each_fault_has_a_hook_in_the_file_that_it_names() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for fault in Fault::ALL {
            let source = std::fs::read_to_string(root.join(fault.file())).unwrap();
            let hook = format!("Fault::{fault:?}");
            let after = source.split_once(&hook).map(|(_, after)| after);
            let is_hook = after.is_some_and(|after| after.starts_with([',', ')']));
            assert!(is_hook, "{} has no hook {hook}", fault.file());
        }
    }

    #[test]
    fn names_are_told_apart() {
        let names: BTreeSet<&str> = Fault::ALL.iter().map(Fault::name).collect();
        assert_eq!(names.len(), Fault::ALL.len());
        assert!(Fault::ALL.iter().all(|fault| Fault::named(fault.name()) == Some(*fault)));
    }

    #[test]
    fn only_the_planted_fault_is_injected() {
        let (first, second) = (Fault::ALL[0], Fault::ALL[1]);
        assert_eq!(inject(first, 1, |right| right + 1), 1);
        take_reached();
        assert_eq!((inject(first, 1, |right| right), inject(second, 1, |right| right + 1)), (1, 1));
        assert_eq!(take_reached(), [second]);
        plant(Some(first));
        assert_eq!((inject(first, 1, |right| right + 1), inject(second, 1, |right| right + 1)), (2, 1));
        plant(None);
        assert_eq!((inject(first, 1, |right| right + 1), planted()), (1, None));
    }
}
