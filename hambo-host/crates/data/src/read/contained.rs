//! Running a reader that may panic on a damaged file.
//!
//! The `parquet` crate does so where a page contradicts itself. A panic there is a fact about the
//! file, so it becomes an error like any other: the reader runs on a thread of its own, whose panic
//! is caught and not printed.

use std::panic;
use std::sync::Once;
use std::thread;

/// The name of such threads.
const NAME: &str = "hambo-contained-reader";

/// Runs `read`; `None` if it panics or no thread can be had.
pub(super) fn contained<T: Send>(read: impl FnOnce() -> T + Send) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            if thread::current().name() != Some(NAME) {
                before(information);
            }
        }));
    });
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(NAME.to_owned());
        thread.spawn_scoped(scope, read).ok()?.join().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_none_and_a_value_comes_back() {
        assert_eq!(contained(|| 7), Some(7));
        assert_eq!(contained(|| panic!("damaged")), None::<u8>);
    }
}
