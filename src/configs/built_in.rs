//! The configuration that the program carries: the files of `configs/` as they were when it
//! was built. An installed program has no project around it, and still knows the paper's cells.
//!
//! Its files are read through the same functions as any other, by a path that no folder has.

use std::io;
use std::path::Path;

pub use trapcheck_answers::built_in::{FOLDER, bytes, yaml_files};

use crate::{limits, reading};

/// The bytes of a file of the configuration, built in or not.
///
/// # Errors
/// As [`reading::at_most`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    match bytes(path) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => reading::at_most(path, limits::YAML_BYTES),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use trapcheck_answers::built_in::{FILES, configs};

    use super::super::{load, read as of_type};
    use super::*;
    use crate::setup::Cell;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("configs")
    }

    #[test]
    fn every_built_in_file_is_the_folders_byte_for_byte() {
        for (name, bytes) in FILES {
            assert_eq!(fs::read(root().join(name)).unwrap(), *bytes, "{name}");
        }
    }

    #[test]
    fn the_built_in_configuration_loads_as_the_folder_does() {
        let (own, folder) = (load(Path::new(FOLDER)), load(&root()));
        let (own, folder) = (own.unwrap(), folder.unwrap());
        let carried = configs().unwrap();
        assert_eq!((&carried.sha256, &carried.layouts), (&own.sha256, &own.layouts));
        assert!(own.cells.len() > 5 && own.registrations.len() > 5 && !own.layouts.is_empty());
        for (name, cell) in &own.cells {
            assert_eq!(folder.cells.get(name), Some(cell));
        }
        for (name, file) in &own.registrations {
            assert_eq!(folder.registrations[name].sha256, file.sha256);
        }
    }

    #[test]
    fn a_built_in_file_that_is_not_there_is_an_error_that_names_it() {
        let error = of_type(&Path::new(FOLDER).join("cells/none.yaml"), Cell::parse);
        let said = error.unwrap_err().to_string();
        assert!(said.starts_with("built-in:configs/cells/none.yaml: cannot read"), "{said}");
    }
}
