//! A cell that plays another workload of the configuration than its own.

use crate::model::cost::speed::all_miss_tokens_per_s;
use crate::model::{AllMiss, ModelError, ModelF, SessionMeans};
use crate::setup::{Cell, Speed, Workload};
use trapcheck_sessions::workload::Playable;

/// The cell with what it plays.
#[derive(Debug, Clone)]
pub struct Playing {
    /// The cell, under a name of its own.
    pub cell: Cell,
    /// The other workload, and what is to be said of its sessions.
    pub played: Playable,
}

/// Its name: that of the cell, a plus and that of the workload.
pub fn name_of(cell: &str, workload: &str) -> String {
    format!("{cell}+{workload}")
}

impl Playing {
    /// A cell whose workload is `own`, playing another one. Nobody measured it so: its lambda_ref
    /// and its all-miss token rate are model F's, at the speed that the cell has.
    ///
    /// # Errors
    /// The model has no answer for the two: a sentence.
    pub fn of(cell: &Cell, own: &Workload, name: &str, played: Playable) -> Result<Self, String> {
        let (lambda_ref_per_s, tokens_per_s) = all_miss(cell, own, &played.workload)
            .map_err(|e| format!("cell {} with workload {name}: {e}", cell.name))?;
        let cell = Cell {
            name: name_of(&cell.name, name),
            workload: name.to_owned(),
            lambda_ref_per_s,
            all_miss_tokens_per_s: Some(tokens_per_s),
            ..cell.clone()
        };
        Ok(Self { cell, played })
    }
}

/// The all-miss rates of a cell with another workload, sessions/s and prompt tokens/s.
fn all_miss(cell: &Cell, own: &Workload, other: &Workload) -> Result<(f64, f64), ModelError> {
    let factor = AllMiss::of(cell, own)?.speed;
    let costs = AllMiss::of(&Cell { speed: Speed::Factor { factor }, ..cell.clone() }, other)?;
    let means = SessionMeans::of(other);
    let lambda_miss_per_s = ModelF::new(&costs.costs_s, &means.survival)?.lambda_miss_per_s();
    let tokens_per_s = match cell.speed {
        // What the speed is fitted to is that of a closed population.
        Speed::AllMissRate { population } => {
            all_miss_tokens_per_s(cell, other, population, factor)?
        }
        _ => lambda_miss_per_s * means.mean_turns * means.mean_prompt_tokens(),
    };
    Ok((lambda_miss_per_s, tokens_per_s))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use crate::configs::{Configs, FOLDERS};
    use crate::model::{AllMiss, SessionMeans};

    fn project() -> Configs {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs");
        let listed = FOLDERS.iter().flat_map(|folder| std::fs::read_dir(dir.join(folder)).unwrap());
        let paths: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
        let files: BTreeMap<PathBuf, Vec<u8>> =
            paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
        Configs::parse(&dir, &files).unwrap()
    }

    #[test]
    fn a_cell_that_plays_another_workload_has_model_fs_rates_for_it() {
        let configs = project();
        let name = configs.playing("sglang-300k", Some("mirror")).unwrap();
        assert_eq!(name, "sglang-300k+mirror");
        let (cell, workload, _) = configs.cell(&name).unwrap();
        assert_eq!((cell.name.as_str(), workload.name.as_str()), (name.as_str(), "mirror"));
        let costs = AllMiss::of(&configs.cells["sglang-300k"], workload).unwrap();
        let ratio = cell.lambda_ref_per_s / costs.mu_b_per_s;
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
        let means = SessionMeans::of(workload);
        let tokens = costs.mu_b_per_s * means.mean_turns * means.mean_prompt_tokens();
        assert!((cell.all_miss_tokens_per_s.unwrap() / tokens - 1.0).abs() < 1e-9);
        assert_eq!(configs.cell_called(&name), Some(cell));
        assert!(!configs.cells.contains_key(&name));
    }

    #[test]
    fn a_speed_that_is_fitted_stays_what_it_is_under_another_workload() {
        let configs = project();
        let of = |name: &str| {
            let (cell, workload, _) = configs.cell(name).unwrap();
            AllMiss::of(cell, workload).unwrap().speed
        };
        let (own, other) = (of("vllm-300k"), of("vllm-300k+mirror"));
        assert!((own / other - 1.0).abs() < 1e-6, "{own} and {other}");
    }

    #[test]
    fn a_cell_with_its_own_workload_or_none_is_itself_and_an_unknown_one_is_named() {
        let configs = project();
        for own in [None, Some("standard")] {
            assert_eq!(configs.playing("sglang-300k", own).as_deref(), Ok("sglang-300k"));
        }
        let said = configs.playing("sglang-300k", Some("miror")).unwrap_err();
        assert!(said.contains("miror") && said.contains("mirror"), "{said}");
        assert!(configs.cell("sglang-300k+miror").is_err());
        assert!(configs.of_cell("sglang-300k+miror").is_none());
    }

    #[test]
    fn a_workload_that_a_pool_cannot_hold_says_which_and_of_which_cell() {
        let said = project().cell("vllm-cpu-tiny-30k+standard").unwrap_err();
        assert!(said.contains("vllm-cpu-tiny-30k with workload standard"), "{said}");
    }
}
