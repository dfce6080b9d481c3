//! Why costs cannot be fitted.

/// Runs, or a log of iterations, that cannot calibrate a cell.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// The run had the prefix cache on: what was computed is not the prompts.
    #[error("{run}: the prefix cache was on; only a cache-off run shows what a miss costs")]
    CacheOn {
        /// The run.
        run: String,
    },
    /// The run ended early.
    #[error("{run}: it ended at {duration_s} s, before its window [{start_s}, {end_s}) s did")]
    TooShort {
        /// The run.
        run: String,
        /// How long it lasted, s.
        duration_s: f64,
        /// Start of the window, s.
        start_s: f64,
        /// End of the window, s.
        end_s: f64,
    },
    /// Runs of different cells.
    #[error(
        "{run}: cell {cell}, but the runs before it are of {expected}; calibrate one cell at a time"
    )]
    OtherCell {
        /// The run.
        run: String,
        /// Its cell.
        cell: String,
        /// The cell of the first run.
        expected: String,
    },
    /// Too little to fit the cost of a turn.
    #[error("only {bins} saturated bins of {width_s} s; at least 4 are needed for a fit")]
    TooFewBins {
        /// Bins found.
        bins: usize,
        /// Their width, s.
        width_s: f64,
    },
    /// Too few turns with a first token to fit the cost of an iteration.
    #[error("only {0} turns with a first and a last token; at least 20 are needed")]
    TooFewTurns(usize),
    /// Not enough lines of a log.
    #[error(
        "only {0} lines of iterations, at least 50 are needed: vLLM writes them with \
         --enable-logging-iteration-details, SGLang two Decode batch lines for each"
    )]
    TooFewLines(usize),
    /// All iterations are alike, or the fit gives a cost that is not positive.
    #[error("its iterations do not tell a fixed part from a part per token")]
    NotTold,
}
