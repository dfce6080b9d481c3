//! Any bytes through each reader, and the answer that follows. The first byte says how large the
//! pieces are in which they come.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trapcheck_observed::answer::{Ask, Thresholds, answers};
use trapcheck_observed::format::Format;
use trapcheck_observed::read::Reader;

fuzz_target!(|bytes: &[u8]| {
    let size = usize::from(bytes.first().copied().unwrap_or(0)) + 1;
    for format in Format::ALL.map(Some).into_iter().chain([None]) {
        let mut reader = Reader::new(format, None);
        if bytes.chunks(size).try_for_each(|piece| reader.push(piece)).is_ok()
            && let Ok(observed) = reader.finish()
        {
            let _ = answers(&observed, &Ask::default(), &Thresholds::default());
        }
    }
});
