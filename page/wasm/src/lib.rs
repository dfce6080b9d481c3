//! What a page calls: `alloc` gives room, `answer` takes a question's address and length and
//! gives an answer's, `free` takes room back. Texts are UTF-8. Addresses have 32 bits, so this
//! is of use as `wasm32` only; what is unsafe is that the caller's addresses are believed.

use std::alloc::{self, Layout};

#[cfg(not(any(feature = "runs", feature = "logs")))]
use trapcheck_page::answer_live as answer_with;
#[cfg(feature = "logs")]
use trapcheck_page::answer_logs as answer_with;
#[cfg(all(feature = "runs", not(feature = "logs")))]
use trapcheck_page::answer_runs as answer_with;

/// Room for `len` bytes. Given back by [`free`] with the same `len`.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(len: u32) -> *mut u8 {
    let layout = layout(len);
    // SAFETY: the layout is never of size 0.
    let room = unsafe { alloc::alloc(layout) };
    if room.is_null() {
        alloc::handle_alloc_error(layout);
    }
    room
}

/// Takes back what [`alloc`] or [`answer`] gave.
///
/// # Safety
/// `room` was given by one of them, for `len` bytes, and was not taken back before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(room: *mut u8, len: u32) {
    // SAFETY: as the caller promises.
    unsafe { alloc::dealloc(room, layout(len)) }
}

/// Answers the question of `len` bytes at `question`. The upper half of what is returned is the
/// answer's address, the lower one its length; the caller gives both to [`free`].
///
/// # Safety
/// There are `len` bytes at `question`, and as many as a file of the question says at the
/// address that it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(question: *const u8, len: u32) -> u64 {
    // SAFETY: as the caller promises.
    let question = unsafe { std::slice::from_raw_parts(question, len as usize) };
    let question = String::from_utf8_lossy(question);
    // SAFETY: as the caller promises, of each file.
    let bytes = |place: u32, len: u32| {
        let place = std::ptr::with_exposed_provenance::<u8>(place as usize);
        (!place.is_null())
            .then(|| unsafe { std::slice::from_raw_parts(place, len as usize) }.to_vec())
    };
    let answer = answer_with(&question, &bytes).into_bytes();
    let len = answer.len() as u32;
    let room = alloc(len);
    // SAFETY: the room is new and of that size.
    unsafe { std::ptr::copy_nonoverlapping(answer.as_ptr(), room, answer.len()) };
    ((room.expose_provenance() as u64) << 32) | u64::from(len)
}

/// Bytes without alignment, one at least.
fn layout(len: u32) -> Layout {
    // A size that is too large for an address is refused by the allocator.
    Layout::array::<u8>((len as usize).max(1)).unwrap_or(Layout::new::<u8>())
}
