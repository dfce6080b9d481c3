//! What can go wrong with one request, in words of ours: what a server says in its own words
//! is written nowhere.

/// Why a request has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No connection came about.
    #[error("no connection: {0}")]
    Connect(&'static str),
    /// It took longer than it may.
    #[error("no answer within {0} s")]
    Timeout(u64),
    /// An error by its status.
    #[error("answered with status {0}")]
    Status(u16),
    /// Another address, which is not asked.
    #[error("answered with a redirect (status {0}) that is not followed")]
    Redirect(u16),
    /// The connection ended in the middle.
    #[error("connection broken")]
    Broken,
    /// What came is not HTTP, or its head is too large.
    #[error("answer is not HTTP or its head is too large")]
    NotHttp,
    /// More bytes than an answer of this kind can have.
    #[error("answer too large: over {0} bytes")]
    TooLarge(u64),
    /// The stream ended before its last event.
    #[error("stream ended early")]
    EndedEarly,
    /// An event that is not what the interface documents.
    #[error("malformed event")]
    Malformed,
    /// The engine reported an error within the stream.
    #[error("engine reported an error")]
    Engine,
    /// No count of tokens.
    #[error("no usage in the answer")]
    NoUsage,
    /// Counts that cannot be.
    #[error("impossible usage: {0}")]
    Usage(&'static str),
    /// The ids of the tokens are not there, so no next prompt can be made of them.
    #[error("no token ids in the answer")]
    NoTokenIds,
    /// Another number of tokens than was asked for.
    #[error("answered {got} of {asked} tokens")]
    Tokens {
        /// How many came.
        got: u64,
        /// How many were asked for.
        asked: u64,
    },
}
