//! Gives the library a hash of its own source, so that a result kept by an older one is
//! never taken for its own; and the static part of `page/`, for where there is no such folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use sha2::{Digest, Sha256};

#[path = "src/page/parts.rs"]
mod parts;

/// What of `src/` is not the library's: it parses arguments and prints. A change there leaves
/// what was kept as it is, and compiles the command line alone.
const COMMAND_LINE: [&str; 3] = ["cli", "cli.rs", "main.rs"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut library = vec![root.join("Cargo.lock"), root.join("crates")];
    for entry in fs::read_dir(root.join("src"))? {
        let entry = entry?;
        if !COMMAND_LINE.iter().any(|name| entry.file_name() == *name) {
            library.push(entry.path());
        }
    }
    let mut files = Vec::new();
    for path in library {
        println!("cargo:rerun-if-changed={}", path.display());
        if path.is_dir() {
            files_ending(&path, "rs", &mut files)?;
        } else {
            files.push(path);
        }
    }
    files.sort();
    let mut hasher = Sha256::new();
    for file in files.iter().filter(|file| file.is_file()) {
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        hasher.update(name.as_bytes());
        hasher.update(fs::read(file)?);
    }
    let hex: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=TRAPCHECK_SOURCE_SHA256={hex}");
    built_in_page(&root.join("page"))
}

/// Writes the list of the page's static files with their bytes as a Rust expression.
fn built_in_page(folder: &Path) -> io::Result<()> {
    let files = parts::static_files(folder)?;
    let folders: BTreeSet<&Path> = files.iter().filter_map(|(_, path)| path.parent()).collect();
    // A file that is new in one of their folders counts as well; those of the page's own folder,
    // where it may be written to, one by one.
    for watched in folders.into_iter().filter(|watched| *watched != folder) {
        println!("cargo:rerun-if-changed={}", watched.display());
    }
    let mut list = String::from("&[\n");
    for (name, path) in &files {
        let path = path.to_string_lossy();
        println!("cargo:rerun-if-changed={path}");
        list += &format!("({name:?}, include_bytes!({path:?}) as &[u8]),\n");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("page_files.rs"), list + "]\n")
}

fn files_ending(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files_ending(&path, ending, found)?;
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
    Ok(())
}
