//! Any bytes through each reader, the answer that follows, and the runs that are made of it. The first byte says how large the
//! pieces are in which they come.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trapcheck_observed::answer::{Ask, Thresholds, answers};
use trapcheck_observed::format::Format;
use trapcheck_observed::import::{Told, runs};
use trapcheck_observed::read::Reader;

fuzz_target!(|bytes: &[u8]| {
    let size = usize::from(bytes.first().copied().unwrap_or(0)) + 1;
    for format in Format::ALL.map(Some).into_iter().chain([None]) {
        let mut reader = Reader::new(format, None);
        if bytes.chunks(size).try_for_each(|piece| reader.push(piece)).is_ok()
            && let Ok(observed) = reader.finish()
        {
            let _ = answers(&observed, &Ask::default(), &Thresholds::default());
            let told = Told {
                run_id: String::new(),
                cell: String::new(),
                arm: "a".into(),
                pool_tokens: Some(1000),
                prefix_caching: Some(true),
                population: None,
            };
            let _ = runs(&observed, &told);
        }
    }
});
