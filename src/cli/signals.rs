//! What a signal ends leaves nothing half written.

use std::sync::OnceLock;

/// What an interrupt does instead of ending the process.
static INSTEAD: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// From now on the first interrupt or request to end does `instead`, for a command that ends
/// by itself then; the second ends the process.
pub fn on_interrupt(instead: impl Fn() + Send + Sync + 'static) {
    // One command runs per process.
    let _ = INSTEAD.set(Box::new(instead));
}

/// From now on an interrupt or a request to end removes what is being written before it ends
/// the process as it would have, and a file over the allowed size is an error of that file
/// instead of the end of the process. An interrupt that was to be ignored is ignored still.
#[cfg(unix)]
pub fn tidy_up() {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    // Without handlers all works as well; only less is tidied up.
    let never_read = std::sync::Arc::default();
    let _ = signal_hook::flag::register(SIGXFSZ, never_read);
    let heeded = [SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
    let Ok(mut signals) = Signals::new(heeded) else { return };
    std::thread::spawn(move || {
        let mut is_first = true;
        for signal in signals.forever() {
            match INSTEAD.get() {
                Some(instead) if std::mem::take(&mut is_first) => instead(),
                _ => {
                    trapcheck::files::remove_unfinished();
                    let _ = emulate_default_handler(signal);
                }
            }
        }
    });
}

/// Other systems have no such signals.
#[cfg(not(unix))]
pub fn tidy_up() {}

/// Whether this process was started to ignore a signal (`nohup`, a shell's background job),
/// as far as the system says.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
