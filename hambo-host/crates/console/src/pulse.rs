//! That long work still goes on, where no line can move: one line every ten seconds.

use std::time::{Duration, Instant};

use hambo_base::observer::Progress;

/// From one line to the next.
const EVERY: Duration = Duration::from_secs(10);

/// When the last line was said.
pub struct Pulse {
    last: Instant,
}

impl Pulse {
    /// The first line comes after ten seconds.
    pub fn begin(now: Instant) -> Self {
        Self { last: now }
    }

    /// What is to be said now, if anything: how far the work is, in whole per cent.
    pub fn look(&mut self, now: Instant, progress: &Progress) -> Option<String> {
        if now.saturating_duration_since(self.last) < EVERY {
            return None;
        }
        self.last = now;
        let percent = (100 * progress.done).checked_div(progress.planned);
        Some(match percent {
            Some(percent) => format!("{}: {percent} %", progress.message),
            None => progress.message.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_every_ten_seconds_and_no_sooner() {
        let begun = Instant::now();
        let mut pulse = Pulse::begin(begun);
        let mut look = |seconds: u64, done, planned| {
            let progress = Progress {
                done,
                planned,
                message: "search".to_owned(),
            };
            pulse.look(begun + Duration::from_secs(seconds), &progress)
        };
        assert_eq!(look(9, 1, 4), None);
        assert_eq!(look(10, 1, 4).as_deref(), Some("search: 25 %"));
        assert_eq!(look(19, 2, 4), None);
        assert_eq!(look(31, 3, 4).as_deref(), Some("search: 75 %"));
        assert_eq!(look(40, 3, 4), None);
        assert_eq!(look(41, 0, 0).as_deref(), Some("search"));
    }
}
