//! Which files of `page/` are the page's static part. The build script uses this file as well,
//! which builds them in: so it names nothing of this crate.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Files of the folder itself.
const FILES: [&str; 6] =
    ["icon.svg", "index.html", "logs.wasm", "runs.wasm", "style.css", "trapcheck.wasm"];
/// Folders below it, and how the names of their files end. Whatever else lies there (tests, the
/// sources of the WebAssembly, what was written) is not shipped.
const FOLDERS: [(&str, &[&str]); 3] =
    [("fonts", &["woff2", "txt"]), ("images", &["svg", "png"]), ("js", &["js"])];

/// The static files below a folder, each by its path there, in order; none without the folder.
///
/// # Errors
/// A folder that cannot be listed.
pub fn static_files(page: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found: Vec<(String, PathBuf)> = FILES
        .iter()
        .map(|name| ((*name).to_owned(), page.join(name)))
        .filter(|(_, path)| path.is_file())
        .collect();
    for (folder, endings) in FOLDERS {
        below(folder, &page.join(folder), endings, &mut found)?;
    }
    found.sort();
    Ok(found)
}

fn below(
    name: &str,
    folder: &Path,
    endings: &[&str],
    found: &mut Vec<(String, PathBuf)>,
) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(own) = path.file_name().and_then(|own| own.to_str()) else { continue };
        if own.starts_with('.') {
            continue;
        }
        let name = format!("{name}/{own}");
        if path.is_dir() {
            below(&name, &path, endings, found)?;
        } else if endings.iter().any(|ending| own.ends_with(&format!(".{ending}"))) {
            found.push((name, path));
        }
    }
    Ok(())
}
