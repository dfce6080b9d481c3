//! What a binding may say, and what goes into its query.

use super::*;

fn row() -> Vec<(String, Value)> {
    let value = |text: &str| serde_yaml::from_str::<Value>(text).unwrap();
    vec![
        ("cell".into(), value("it's")),
        ("rate".into(), value("1.35")),
        ("hit".into(), value("0.2")),
    ]
}

fn filled_with(query: &str) -> Result<String, String> {
    filled(query, &["cell".into(), "rate".into()], &row())
}

#[test]
fn a_place_is_filled_with_the_rows_own_key() {
    let sql = filled_with("select x from t where cell = '{cell}' and rate = {rate}").unwrap();
    assert_eq!(sql, "select x from t where cell = 'it''s' and rate = 1.35");
}

#[test]
fn no_published_value_goes_into_a_query_but_what_names_the_row() {
    assert!(filled_with("select {hit}").unwrap_err().contains("no key of the row"));
    assert!(filled_with("select {hits}").unwrap_err().contains("no such field"));
    assert!(filled_with("select {hit").unwrap_err().contains("expected }"));
}

#[test]
fn a_binding_says_one_thing_and_why() {
    let says = |text: &str| Binding::parse(&serde_yaml::from_str(text).unwrap()).unwrap_err();
    assert!(says("{query: select 1, not_computed: x}").contains("expected one of"));
    assert!(says("{needs_nova: results/nova/}").contains("because is missing"));
    assert!(says("{query: select 1, cause: chance}").contains("because is missing"));
    assert!(says("{query: select 1, bound: below}").contains("below"));
    assert!(says("{query: select 1, ours: above}").contains("cause is missing"));
    assert!(
        says("{query: select 1, cause: plan, because: x, with: arrivals}").contains("only ways")
    );
    assert!(says("{select: 1}").contains("select"));
}

#[test]
fn a_section_has_the_papers_name_and_its_page_the_files() {
    for (file, name) in [("sec-4", "sec 4"), ("app-e-3", "App. E.3"), ("abstract", "abstract")] {
        let path = Path::new("analysis/numbers").join(format!("{file}.yaml"));
        assert_eq!(section(&path), name);
        assert_eq!(stem(name), file);
    }
}
