//! Lists the files of `configs/`, for where there is no such folder. A page has no use for some.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use sha2::{Digest, Sha256};

/// What nothing in a page asks for.
const NOT_IN_A_PAGE: [&str; 7] =
    ["agents.yaml", "batches.yaml", "campaigns", "fidelity", "fill", "layouts", "paper.yaml"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let folder = here.join("../../configs").canonicalize()?;
    let mut files = Vec::new();
    yaml_files(&folder, &mut files)?;
    files.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let is_page = env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm");
    if is_page {
        files.retain(|file| !NOT_IN_A_PAGE.iter().any(|name| file.starts_with(folder.join(name))));
    }
    let mut list = String::from("&[\n");
    for (i, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let path = file.to_string_lossy();
        // A file that was built in and changes makes this new; one that a user adds does not.
        println!("cargo:rerun-if-changed={path}");
        let carried = out.join(format!("carried-{i}"));
        let path = if is_page { carried.to_string_lossy() } else { path.clone() };
        if is_page {
            fs::write(&carried, as_carried(&fs::read(file)?).map_err(io::Error::other)?)?;
        }
        list += &format!("({name:?}, include_bytes!({path:?}) as &[u8]),\n");
    }
    fs::write(out.join("built_in_configs.rs"), list + "]\n")
}

/// A file as a page carries it: its SHA-256, and its values as JSON, but for where they come from,
/// with which nothing computes.
fn as_carried(bytes: &[u8]) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut values: serde_yaml::Value = serde_yaml::from_slice(bytes)?;
    values.as_mapping_mut().map(|fields| fields.remove("sources"));
    Ok(hash + &serde_json::to_string(&values)?)
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            yaml_files(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
    Ok(())
}
