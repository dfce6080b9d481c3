//! Tables read by blocks of rows, and row by row.

use super::*;

const SCHEMA: &[Field] = &[
    Field { name: "id", ty: Type::Text, presence: Presence::Needed },
    Field { name: "n", ty: Type::Count, presence: Presence::MayBeEmpty },
    Field { name: "lacks", ty: Type::Number, presence: Presence::MayLack },
    Field { name: "t", ty: Type::Number, presence: Presence::Needed },
];

/// A header and 300 rows, more than two blocks; `odd` stands in for a row.
fn text(odd: &[(usize, &str)]) -> String {
    let row = |i: usize| {
        let n = if i.is_multiple_of(7) { String::new() } else { (i * i).to_string() };
        format!("s{},{n},x,{}.{:04}\n", i / 3, i, i * 31 % 10_000)
    };
    let of = |i| odd.iter().find(|(at, _)| *at == i).map_or_else(|| row(i), |(_, t)| (*t).into());
    "id,n,more,t\n".to_owned() + &(0..300).map(of).collect::<String>()
}

fn read(text: &str) -> Result<(String, Vec<u64>), Vec<String>> {
    let file = Path::new("t.csv");
    let text = Text::new(file, text.as_bytes().into(), None).expect("UTF-8");
    let columns = super::read(file, &text, SCHEMA, None, false);
    columns
        .map(|columns| (format!("{:?}", columns.data), columns.lines))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn rows_are_read_alike_by_blocks_and_one_by_one() {
    let (data, lines) = read(&text(&[])).expect("a table");
    assert_eq!(lines, (2..302).collect::<Vec<_>>());
    // Carriage returns are read row by row.
    assert_eq!(read(&text(&[]).replace('\n', "\r\n")), Ok((data.clone(), lines.clone())));
    let quoted = [(0, "\"s0\",,x,0.0000\n"), (150, "s50,\"22500\",x,150.4650\n")];
    assert_eq!(read(&text(&quoted)), Ok((data.clone(), lines)));
    let (same, lines) = read(&text(&[(9, "\n\ns3,81,x,9.0279\n")])).expect("a table");
    assert_eq!((same, &lines[8..11]), (data, &[10, 13, 14][..]));
}

#[test]
fn what_is_wrong_within_a_block_is_named_by_its_line() {
    for at in [0, 127, 128, 129, 250, 298] {
        let said = |odd: &str| read(&text(&[(at, odd)])).expect_err("a problem").join("; ");
        let line = at + 2;
        assert!(said("s1,2,x\n").contains(&format!("{line}: expected 4 fields, found 3")));
        for (odd, column) in [("s1,2,x,no\n", "t"), (",2,x,1.5\n", "id"), ("s1,-1,x,1.5\n", "n")] {
            let said = said(odd);
            assert!(said.contains(&line.to_string()) && said.contains(column), "{said}");
        }
    }
    // All of a table's problems are said, not those of the first block alone.
    let two = read(&text(&[(3, "s1,x,x,1.5\n"), (200, "s1,2,x,\n")])).expect_err("problems");
    assert_eq!(two.len(), 2, "{two:?}");
}
