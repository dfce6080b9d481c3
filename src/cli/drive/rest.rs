//! A machine at rest, before a registered run.

use std::time::Duration;

use anyhow::bail;
use tokio::select;
use tokio::sync::Notify;
use tokio::time::sleep;
use trapcheck_drive::machine::load_1;

/// Load average per processor that is too much for a registered run.
const BUSY: f64 = 0.5;

/// How long the machine may take to come to rest between two registered runs.
const REST_S: u64 = 600;

/// A registered run measures an engine, not its neighbours: the machine has to be at rest. The
/// run before may take a while to leave the load average. False if `stop` was notified first.
///
/// # Errors
/// It is busy.
pub async fn at_rest(is_first: bool, stop: &Notify) -> anyhow::Result<bool> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut waited_s = 0;
    while let Some(why) = busy(load_1(), processors) {
        if is_first || waited_s >= REST_S {
            bail!("the machine is busy: {why} before a registered run");
        }
        if waited_s == 0 {
            eprintln!("waiting for the machine to come to rest: {why}");
        }
        select! {
            () = stop.notified() => return Ok(false),
            () = sleep(Duration::from_secs(5)) => waited_s += 5,
        }
    }
    Ok(true)
}

/// What is too much, if anything is. A system that does not say its load is taken to be at rest.
fn busy(load: Option<f64>, processors: usize) -> Option<String> {
    let most = BUSY * processors as f64;
    let load = load.filter(|load| *load > most)?;
    Some(format!("load average {load:.2}, expected at most {most:.2} ({BUSY} per processor)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_busy_above_half_a_load_per_processor() {
        assert_eq!(busy(Some(1.0), 2), None);
        let why = busy(Some(1.01), 2).unwrap();
        assert_eq!(why, "load average 1.01, expected at most 1.00 (0.5 per processor)");
        assert_eq!(busy(Some(1.01), 4), None);
        assert_eq!(busy(None, 2), None);
    }
}
