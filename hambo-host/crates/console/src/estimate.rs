//! How long work will take on this machine, from how long its first part took.

use std::time::{Duration, Instant};

use hambo_base::observer::Progress;

/// Work that takes less is not worth a line.
const WORTH_A_LINE: Duration = Duration::from_secs(10);
/// The part that is measured takes at least so long.
const LOOK: Duration = Duration::from_secs(1);

/// Looks at the first part of every stage of some work.
#[derive(Default)]
pub struct Estimate {
    stage: Option<Stage>,
}

/// A stage begins with the first report, or when a report says less than the one before it.
struct Stage {
    name: String,
    begun: Instant,
    /// What was done before, where work goes on from a checkpoint.
    first: usize,
    last: usize,
    said: bool,
}

impl Estimate {
    /// What is to be said of the whole stage now, if anything: once, and only if it will take
    /// more than ten seconds.
    pub fn look(&mut self, now: Instant, progress: &Progress) -> Option<String> {
        let done = progress.done;
        let stage = match &mut self.stage {
            Some(stage) if stage.last <= done => stage,
            other => other.insert(Stage {
                name: progress.message.clone(),
                begun: now,
                first: done,
                last: done,
                said: false,
            }),
        };
        stage.last = done;
        let passed = now.saturating_duration_since(stage.begun);
        let measured = done.saturating_sub(stage.first);
        if stage.said || measured == 0 || passed < LOOK {
            return None;
        }
        let all = progress.planned.saturating_sub(stage.first);
        let whole = passed.as_secs_f64() * all as f64 / measured as f64;
        if whole <= WORTH_A_LINE.as_secs_f64() || passed > WORTH_A_LINE && done >= progress.planned
        {
            return None;
        }
        stage.said = true;
        Some(format!(
            "{}: about {} on this machine",
            stage.name,
            spoken(whole)
        ))
    }
}

/// Rounded as far as such a measurement can be trusted.
fn spoken(seconds: f64) -> String {
    let to = |unit: f64, step: f64| (seconds / unit / step).round() * step;
    match seconds {
        ..57.5 => format!("{:.0} s", to(1.0, 5.0)),
        ..115.0 => format!("{:.0} s", to(1.0, 10.0)),
        ..5_700.0 => format!("{:.0} min", to(60.0, 1.0)),
        ..36_000.0 => format!("{:.1} h", to(3600.0, 0.5)),
        _ => format!("{:.0} h", to(3600.0, 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(done: usize, planned: usize) -> Progress {
        Progress {
            done,
            planned,
            message: format!("after {done}"),
        }
    }

    #[test]
    fn the_first_part_tells_how_long_all_of_it_takes() {
        let start = Instant::now();
        let after = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let mut estimate = Estimate::default();
        assert_eq!(estimate.look(after(0.0), &at(0, 100)), None);
        // Too short a part.
        assert_eq!(estimate.look(after(0.5), &at(1, 100)), None);
        let said = estimate.look(after(1.2), &at(3, 100));
        assert_eq!(said.as_deref(), Some("after 0: about 40 s on this machine"));
        // Once.
        assert_eq!(estimate.look(after(2.0), &at(4, 100)), None);
        // Another stage has a line of its own, and one of less than ten seconds none.
        assert_eq!(estimate.look(after(50.0), &at(0, 10)), None);
        assert_eq!(estimate.look(after(51.0), &at(2, 10)), None);
        assert_eq!(estimate.look(after(60.0), &at(0, 7)), None);
        let said = estimate.look(after(62.0), &at(1, 7));
        assert_eq!(said.as_deref(), Some("after 0: about 15 s on this machine"));
    }

    #[test]
    fn what_was_done_before_is_not_counted() {
        let start = Instant::now();
        let mut estimate = Estimate::default();
        assert_eq!(estimate.look(start, &at(900, 1000)), None);
        let later = start + Duration::from_secs(2);
        assert_eq!(estimate.look(later, &at(950, 1000)), None);
        let said = estimate.look(start + Duration::from_secs(6), &at(951, 1000));
        assert_eq!(
            said.as_deref(),
            Some("after 900: about 10 s on this machine")
        );
    }

    #[test]
    fn times_are_rounded_generously() {
        for (seconds, wanted) in [
            (11.0, "10 s"),
            (33.0, "35 s"),
            (58.0, "60 s"),
            (114.0, "110 s"),
            (116.0, "2 min"),
            (1000.0, "17 min"),
            (6000.0, "1.5 h"),
            (80_000.0, "22 h"),
        ] {
            assert_eq!(spoken(seconds), wanted, "{seconds}");
        }
    }
}
