//! Catches panics of decoders from other crates, so that they do not end the program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether panics in this thread currently print nothing.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which must stay on this thread. Returns `None` if `work` panics.
///
/// The panic prints nothing; panics in other threads are printed as usual. The caller must discard
/// everything that `work` may have changed.
pub fn contain<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    let outer = QUIET.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(outer);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_contained_and_messages_are_enabled_again() {
        assert_eq!(contain(|| 1), Some(1));
        assert_eq!(contain(|| -> u8 { panic!("not to be seen") }), None);
        assert_eq!(
            contain(|| contain(|| -> u8 { panic!("nor this") })),
            Some(None)
        );
        assert!(!QUIET.get());
    }
}
