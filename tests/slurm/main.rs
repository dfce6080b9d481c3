//! A campaign on a real Slurm of one node, started by the script beside this file.
//!
//! Has a main of its own, so that a skip is printed and not taken for a pass.

use std::process::{Command, ExitCode};

/// The script's exit code where Slurm is not installed.
const SKIPPED: i32 = 77;

fn main() -> ExitCode {
    // As other test programs, it listens to a name to run and to --list.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |word: &String| word.starts_with('-') || "slurm".contains(word.as_str());
    if words.iter().any(|word| word == "--list") || !words.iter().all(wanted) {
        return ExitCode::SUCCESS;
    }
    let root = env!("CARGO_MANIFEST_DIR");
    let ran = Command::new("bash")
        .arg(format!("{root}/tests/slurm/one_node.sh"))
        .args([env!("CARGO_BIN_EXE_trapcheck"), root])
        .output();
    match ran {
        Err(why) => {
            println!("slurm ... SKIPPED: no bash to run its script with ({why})");
            ExitCode::SUCCESS
        }
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            let last = said.lines().last().unwrap_or_default();
            match output.status.code() {
                Some(0) => println!("slurm ... ok ({last})"),
                Some(SKIPPED) => println!("slurm ... {last}"),
                _ => {
                    println!("slurm ... FAILED\n{said}{}", String::from_utf8_lossy(&output.stderr));
                    return ExitCode::FAILURE;
                }
            }
            ExitCode::SUCCESS
        }
    }
}
