//! Runs as a Slurm job array: one task per run, each the same command.
//!
//! Left out: the site's partition, account and time limit, which are arguments
//! of `sbatch`.

use std::fmt::Write as _;

/// Slurm's own limit on a job array (MaxArraySize 1001): more runs than this
/// share tasks.
const MOST_TASKS: usize = 1000;

/// The text of an sbatch script that gives each of `ids` to a command.
///
/// `command` is the command line for one run, up to the run's name; it runs
/// in `folder`, and each task's words go to a file in `logs`. Arguments are quoted here.
pub fn script(name: &str, folder: &str, logs: &str, command: &[String], ids: &[String]) -> String {
    let tasks = ids.len().min(MOST_TASKS);
    let mut text = format!(
        "#!/bin/bash\n\
         #SBATCH --job-name={name}\n\
         #SBATCH --array=0-{}\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task=1\n\
         #SBATCH --mem=512M\n\
         #SBATCH --output={logs}/task-%a.log\n\
         # One run per task; what is done is left alone, so the array can be\n\
         # submitted again after a failure. Partition and time limit: sbatch's arguments.\n\
         set -eu\n\
         runs=(\n",
        tasks.saturating_sub(1)
    );
    for id in ids {
        let _ = writeln!(text, "  {}", quoted(id));
    }
    let command: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let _ = write!(
        text,
        ")\n\
         cd {}\n\
         failed=0\n\
         for ((i = SLURM_ARRAY_TASK_ID; i < ${{#runs[@]}}; i += {tasks})); do\n  \
           {} \"${{runs[$i]}}\" || failed=$?\n\
         done\n\
         exit $failed\n",
        quoted(folder),
        command.join(" ")
    );
    text
}

/// A word that a shell takes literally.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("run{i}")).collect()
    }

    #[test]
    fn a_word_with_spaces_or_quotes_stays_one_word() {
        assert_eq!(quoted("a-b_1.yaml"), "a-b_1.yaml");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn every_run_is_a_task_until_the_array_is_full() {
        let of =
            |n| script("sim", "/work", "/logs", &["trapcheck".into(), "--run".into()], &ids(n));
        assert!(of(3).contains("--array=0-2\n"));
        assert!(of(3).contains("  trapcheck --run \"${runs[$i]}\" || failed=$?\n"));
        let many = of(2500);
        assert!(many.contains("--array=0-999\n"));
        assert!(many.contains("i += 1000"));
    }
}
