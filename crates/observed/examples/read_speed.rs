//! How fast a file is read, and in how much memory, by what Linux counts of this process:
//!
//! `cargo run -p trapcheck-observed --example read_speed -- FILE`

use std::error::Error;
use std::fs::{File, read_to_string};
use std::io::Read;

use trapcheck_observed::read::Reader;

/// Ticks of the kernel's clock per second, as every Linux counts them for programs.
const TICKS_PER_S: f64 = 100.0;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("expected a file")?;
    let mut file = File::open(&path)?;
    let mut reader = Reader::new(None, None);
    let mut piece = vec![0; 1 << 18];
    let mut bytes = 0.0;
    loop {
        let n = file.read(&mut piece)?;
        if n == 0 {
            break;
        }
        reader.push(&piece[..n])?;
        bytes += n as f64;
    }
    let observed = reader.finish()?;
    let cpu_s = cpu_s()?;
    println!(
        "{}: {:.0} MB in {cpu_s:.2} s of CPU time, {:.0} MB/s, {:.0} MB of memory at the most; {} requests and {} engines kept",
        observed.formats.iter().map(|format| format.word()).collect::<Vec<_>>().join(", "),
        bytes / 1e6,
        bytes / 1e6 / cpu_s,
        peak_mb()?,
        observed.requests.len(),
        observed.engines.len()
    );
    Ok(())
}

/// Seconds of CPU time so far, the kernel's among them.
fn cpu_s() -> Result<f64, Box<dyn Error>> {
    let stat = read_to_string("/proc/self/stat")?;
    // The name of the program may have blanks.
    let (_, behind) = stat.rsplit_once(')').ok_or("/proc/self/stat: no name")?;
    let ticks: Vec<f64> = behind.split_whitespace().skip(11).take(2).flat_map(str::parse).collect();
    Ok(ticks.iter().sum::<f64>() / TICKS_PER_S)
}

/// The largest resident set so far, MB.
fn peak_mb() -> Result<f64, Box<dyn Error>> {
    let status = read_to_string("/proc/self/status")?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: f64 =
        kib.and_then(|words| words.split_whitespace().next()).ok_or("no VmHWM")?.parse()?;
    Ok(kib * 1024.0 / 1e6)
}
