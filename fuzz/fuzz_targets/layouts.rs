//! Any bytes in place of each file of a run of another shape, and of the layout that reads it.
#![no_main]

#[path = "../../tests/library/hostile_runs/any_file.rs"]
mod any_file;

use std::sync::LazyLock;

use any_file::AnyFile;
use libfuzzer_sys::fuzz_target;
use trapcheck::directory::PARQUET_THREAD;

static RUNS: LazyLock<AnyFile> = LazyLock::new(|| {
    // The reader of parquet panics on what is damaged, and that is caught: no crash.
    let crash = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(PARQUET_THREAD) {
            crash(panic);
        }
    }));
    AnyFile::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
});

fuzz_target!(|bytes: &[u8]| {
    for file in 0..RUNS.files() {
        drop(RUNS.read_with(file, bytes));
    }
});
