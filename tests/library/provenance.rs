//! Proofs of registrations, made from real git repositories and then tampered with.

mod command_line;
mod fixture;
mod repositories;
mod tampering;
mod times;
