//! Time that this thread has spent on a processor, for tables that say what a result has cost.

/// Seconds since the thread began; `None` where the system does not tell.
///
/// ```
/// use hambo_base::thread_time::thread_seconds;
///
/// if let (Some(before), Some(after)) = (thread_seconds(), thread_seconds()) {
///     assert!(before <= after);
/// }
/// ```
#[must_use]
pub fn thread_seconds() -> Option<f64> {
    // Linux: nanoseconds on a processor, then waiting, then the number of turns.
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 * 1e-9)
}
