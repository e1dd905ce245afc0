//! Ctrl-C: the first stops the work as any failure does, the second ends the process at once.

use hyperslab::{CancelToken, Result};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The exit code of a process that a user interrupted: 128 and the number of the signal.
pub(crate) const EXIT_CODE: u8 = 130;

/// Listens for Ctrl-C from now on. Where the system does not let us, Ctrl-C ends the process as it always does.
pub(crate) fn listen() {
    use signal_hook::consts::SIGINT;
    // In this order: at the first signal, the flag is not set yet when the first handler looks at it.
    let exit_at_second = || {
        signal_hook::flag::register_conditional_shutdown(SIGINT, EXIT_CODE.into(), Arc::clone(&INTERRUPTED))
    };
    let _ = exit_at_second().and_then(|_| signal_hook::flag::register(SIGINT, Arc::clone(&INTERRUPTED)));
}

/// What Ctrl-C cancels.
pub(crate) fn token() -> CancelToken {
    CancelToken::from(Arc::clone(&INTERRUPTED))
}

/// Fails once Ctrl-C was pressed.
pub(crate) fn check() -> Result<()> {
    token().check()
}
