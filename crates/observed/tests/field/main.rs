//! What operators have and what must be said of it: cases as they are reported, every format,
//! and files as they are broken in the field. All inputs are invented, in the shape of real ones.
#![allow(clippy::unwrap_used)] // a test that cannot go on fails

mod cases_closed;
mod cases_engine;
mod cases_lies;
mod cases_requests;
mod corpus;
mod every_reader;
mod formats;
mod imports;
mod made;
mod malformed;
mod properties;
