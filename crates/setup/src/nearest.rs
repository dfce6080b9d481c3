//! A name that there is not: which of the known ones was meant?

/// The known name closest to the one asked for, if one is close: at most a third of its
/// letters, and three, are wrong (two exchanged letters count as one), or it is a part of
/// the known name. Capitals make no difference.
pub fn nearest<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let asked = asked.to_lowercase();
    let letters = asked.chars().count();
    let allowed = (letters / 3).clamp(1, 3);
    known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let distance = strsim::osa_distance(&asked, &lower);
            let is_part = letters >= 3 && lower.contains(&asked);
            (distance <= allowed || is_part).then_some((distance, name))
        })
        .min()
        .map(|(_, name)| name)
}

/// What is said of a name that there is not: the closest one, or else what there is.
///
/// `no cell sglang-30k in configs/cells; did you mean sglang-300k?`
pub fn unknown<'a>(
    what: &str,
    asked: &str,
    place: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let place = if place.is_empty() { String::new() } else { format!(" in {place}") };
    let hint = match (nearest(asked, known.iter().copied()), known.len()) {
        (Some(meant), _) => format!("did you mean {meant}?"),
        (None, 0) => "there is none".to_owned(),
        (None, MOST_LISTED..) => {
            let more = known.len() - MOST_LISTED;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("there are: {}{more}", known[..MOST_LISTED].join(", "))
        }
        (None, _) => format!("there are: {}", known.join(", ")),
    };
    format!("no {what} {asked}{place}; {hint}")
}

/// A longer list helps nobody.
const MOST_LISTED: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    const CELLS: [&str; 4] = ["h200-300k", "sglang-300k", "sglang-native", "vllm-300k"];

    #[test]
    fn the_closest_name_is_the_one_that_was_meant() {
        assert_eq!(nearest("sglang-30k", CELLS), Some("sglang-300k"));
        assert_eq!(nearest("SGLang-300K", CELLS), Some("sglang-300k"));
        assert_eq!(nearest("slgang-native", CELLS), Some("sglang-native"));
        assert_eq!(nearest("native", CELLS), Some("sglang-native"), "a part of it");
        assert_eq!(nearest("llama", CELLS), None);
        assert_eq!(nearest("", CELLS), None);
    }

    #[test]
    fn a_name_that_is_close_to_none_gets_the_list_and_a_long_list_is_cut() {
        assert_eq!(
            unknown("cell", "vlm-300k", "configs/cells", CELLS),
            "no cell vlm-300k in configs/cells; did you mean vllm-300k?"
        );
        assert_eq!(
            unknown("cell", "mine", "", CELLS),
            "no cell mine; there are: h200-300k, sglang-300k, sglang-native, vllm-300k"
        );
        let many: Vec<String> = (0..30).map(|i| format!("number-{i}")).collect();
        let said = unknown("number", "x", "", many.iter().map(String::as_str));
        assert!(said.ends_with("number-19 and 10 more"), "{said}");
        assert_eq!(unknown("figure", "f", "", []), "no figure f; there is none");
    }
}
