//! What a run directory can be when something went wrong: each test breaks one thing
//! in a sound run and says what the reader must answer, and where.

mod any_file;
mod any_layout_bytes;
mod command_line;
mod contradictions;
mod fixture;
mod layout_files;
mod layout_parquet;
mod layouts;
mod mutations;
mod ordinary_pulls;
mod packed_tables;
mod parquet_tables;
mod parquet_types;
mod round_trip;
mod rows;
mod sizes;
mod text_tables;
mod theirs;
mod values;
mod whole_runs;
