//! Ctrl-C: the first one stops the work like any failure, the second one ends the process at once.

use hyperslab::{CancelToken, Result};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The exit code of a process that a user interrupted: 128 plus the number of the signal.
pub(crate) const EXIT_CODE: u8 = 130;

/// Starts listening for Ctrl-C. If the system does not allow that, Ctrl-C ends the process as usual.
pub(crate) fn listen() {
    use signal_hook::consts::SIGINT;
    // The order matters: at the first signal, the flag is not yet set when the first handler reads it.
    let exit_at_second = || {
        signal_hook::flag::register_conditional_shutdown(SIGINT, EXIT_CODE.into(), Arc::clone(&INTERRUPTED))
    };
    let _ = exit_at_second().and_then(|_| signal_hook::flag::register(SIGINT, Arc::clone(&INTERRUPTED)));
}

/// The token that Ctrl-C cancels.
pub(crate) fn token() -> CancelToken {
    CancelToken::from(Arc::clone(&INTERRUPTED))
}

/// Fails if Ctrl-C was pressed.
pub(crate) fn check() -> Result<()> {
    token().check()
}
