//! Handles Ctrl-C and the signals of batch systems, so that commands stop in an orderly way, or at least leave no
//! partial files.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::{io, process, thread};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use gleaner_domain::error::{Error, Result};
use gleaner_io::files;

/// The flag that a command polls and that a signal sets.
static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Whether the running command polls [`STOP`].
static POLLED: AtomicBool = AtomicBool::new(false);
/// The last signal received; 0 before the first signal.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Installs handlers for Ctrl-C (SIGINT), SIGTERM and SIGHUP. Only the first call in a process installs them; later
/// calls return its result.
///
/// A command that polls [`flag`] stops in an orderly way on the first signal, and exits immediately on the second. Any
/// other command exits on the first signal: unfinished files are removed, and programs that were started are killed.
///
/// # Errors
/// The handlers cannot be installed.
pub fn watch() -> Result<()> {
    static WATCHED: OnceLock<Result<(), String>> = OnceLock::new();
    let begin = || begin().map_err(|error| error.to_string());
    let begun = WATCHED.get_or_init(begin);
    begun
        .clone()
        .map_err(|error| Error::Run(format!("cannot catch Ctrl-C: {error}")))
}

fn begin() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let watcher = thread::Builder::new().name("signals".to_owned());
    watcher
        .spawn(move || signals.forever().for_each(received))
        .map(drop)
}

fn received(signal: i32) {
    let is_first = SIGNAL.swap(signal, Ordering::SeqCst) == 0;
    STOP.store(true, Ordering::SeqCst);
    gleaner_process::stop();
    if !(is_first && POLLED.load(Ordering::SeqCst)) {
        files::discard_unfinished();
        gleaner_process::kill_all();
        super::remark(&["interrupted: incomplete files have been removed".to_owned()]);
        process::exit(exit_code(signal));
    }
}

fn exit_code(signal: i32) -> i32 {
    128 + signal
}

/// The flag that a command polls to stop in an orderly way. After the first call of this function, the first signal
/// sets the flag instead of ending the program.
pub fn flag() -> &'static Arc<AtomicBool> {
    // Many threads call this function at every event, so only the first call writes to `POLLED`.
    if !POLLED.load(Ordering::Relaxed) {
        POLLED.store(true, Ordering::SeqCst);
    }
    &STOP
}

/// Installs a SIGUSR1 handler and returns the flag that it sets. A batch system can be configured to send this signal
/// shortly before the time limit. The command then starts no further work.
///
/// # Errors
/// The handler cannot be installed.
pub fn soon() -> Result<&'static AtomicBool> {
    static SOON: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let soon = SOON.get_or_init(Arc::default);
    signal_hook::flag::register(SIGUSR1, Arc::clone(soon))
        .map_err(|error| Error::Run(format!("cannot catch SIGUSR1: {error}")))?;
    Ok(soon)
}

/// The exit code of an interrupted command: 128 plus the number of the signal, which gives 130 for Ctrl-C and 143 for
/// SIGTERM.
pub fn interrupted() -> u8 {
    match SIGNAL.load(Ordering::SeqCst) {
        0 => 130,
        signal => exit_code(signal) as u8,
    }
}
