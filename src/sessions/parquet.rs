//! The table of sessions from a parquet file.

use std::io;
use std::path::Path;

use trapcheck_sessions::reading::{Fault, Names, Reading};
use trapcheck_sessions::session::{Format, Parent, Session};
use trapcheck_sessions::table::{self, Row};

use crate::directory;
use crate::run::Problem;
use crate::run::columns::{Columns, Field, Presence, Type};

const fn field(name: &'static str, ty: Type, presence: Presence) -> Field {
    Field { name, ty, presence }
}

/// The columns of [`table::NEEDED`] and [`table::OTHERS`], by what they hold.
const SCHEMA: [Field; 12] = {
    use Presence::{MayBeEmpty, MayLack, Needed};
    use Type::{Count, Number, Text};
    [
        field("session", Text, Needed),
        field("turn", Count, Needed),
        field("t_s", Number, MayBeEmpty),
        field("prompt_tokens", Count, Needed),
        field("output_tokens", Count, Needed),
        field("reusable_tokens", Count, MayBeEmpty),
        field("think_s", Number, MayBeEmpty),
        field("api_s", Number, MayBeEmpty),
        field("parent", Text, MayLack),
        field("parent_turn", Count, MayLack),
        field("shared_tokens", Count, MayLack),
        field("format", Text, MayLack),
    ]
};

/// Reads it whole: it is of at most [`crate::limits::ROWS`] rows.
pub fn read(
    path: &Path,
    name: &str,
    names: &mut Names,
    take: &mut dyn FnMut(Session) -> io::Result<()>,
) -> Result<Reading, Fault> {
    let columns = directory::parquet_columns(path, &SCHEMA).map_err(|p| fault(name, &p))?;
    table::from_rows(name, (0..columns.len()).map(|i| row(&columns, i)), names, take)
}

fn fault(name: &str, problems: &[Problem]) -> Fault {
    let said = |p: &Problem| match &p.column {
        Some(column) => format!("{column}: {}", p.message),
        None => p.message.clone(),
    };
    Fault::Malformed {
        file: name.to_owned(),
        line: problems.iter().find_map(|p| p.line).unwrap_or(1),
        message: problems.first().map(said).unwrap_or_default(),
    }
}

fn row(columns: &Columns, i: usize) -> Row {
    let count = |name| columns.count(name).get(i);
    let number = |name| columns.number(name).get(i);
    let text = |name| Some(columns.text(name).get(i)).filter(|text| !text.is_empty());
    let parent = text("parent").zip(count("parent_turn"));
    Row {
        session: columns.text("session").get(i).to_owned(),
        turn: count("turn").unwrap_or_default(),
        start_s: number("t_s"),
        prompt_tokens: count("prompt_tokens").unwrap_or_default(),
        output_tokens: count("output_tokens").unwrap_or_default(),
        reusable_tokens: count("reusable_tokens"),
        think_s: number("think_s"),
        service_s: number("api_s"),
        parent: parent.map(|(session, turn)| Parent { session: session.to_owned(), turn }),
        shared_tokens: count("shared_tokens"),
        format: text("format").and_then(Format::named),
    }
}
