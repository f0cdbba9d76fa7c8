//! What an axis spans: where numbers lie on it, its ticks and their labels.

use crate::words::readable;

/// Steps between ticks from which on they are written with an exponent.
const LARGE: f64 = 1e5;

/// The two ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// The finite ones of these numbers, with a little room; never empty.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        // Beyond this a difference would not be finite.
        let drawable = values.into_iter().filter(|value| value.abs() < 1e300);
        let (low, high) = drawable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        if low > high {
            return Self::exact(0.0, 1.0);
        }
        let width = high - low;
        let room = if width > 1e-9 * high.abs().max(1e-9) {
            0.05 * width
        } else {
            0.5 * high.abs().max(1e-6)
        };
        Self::exact(low - room, high + room)
    }

    /// Exactly from here to there.
    pub fn exact(low: f64, high: f64) -> Self {
        let high = high.max(low + 1e-9);
        Self { low, high }
    }

    /// Where a number lies: 0 at the low end, 1 at the high one.
    pub fn share(&self, value: f64) -> f64 {
        // Wild data must not overflow the picture's numbers.
        ((value - self.low) / (self.high - self.low)).clamp(-1.0, 2.0)
    }

    /// Whether a number lies inside.
    pub fn contains(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// The distance of about `wanted` round numbers.
    fn step(&self, wanted: f64) -> f64 {
        let rough = (self.high - self.low) / wanted;
        let power = 10_f64.powf(rough.log10().floor());
        match rough / power {
            part if part < 1.5 => power,
            part if part < 3.0 => 2.0 * power,
            part if part < 7.0 => 5.0 * power,
            _ => 10.0 * power,
        }
    }

    /// Round numbers inside, about `wanted` of them, with their labels: as many digits as tell
    /// neighbours apart.
    pub fn ticks(&self, wanted: f64) -> Vec<(f64, String)> {
        let step = self.step(wanted);
        let first = (self.low / step).ceil();
        let ticks = (0..50).map(|i| (first + f64::from(i)) * step);
        ticks
            .take_while(|tick| *tick <= self.high + 1e-5 * step)
            .map(|tick| (tick, label(tick, step)))
            .collect()
    }
}

fn label(tick: f64, step: f64) -> String {
    // What is left of zero by rounding.
    let tick = if tick.abs() < 1e-6 * step { 0.0 } else { tick };
    if step >= LARGE && tick != 0.0 {
        let digits = (tick.abs().log10().floor() - step.log10().floor()).max(0.0);
        return format!("{tick:.0$e}", digits as usize).replace('-', "−");
    }
    if tick != 0.0 && !(1e-4..1e7).contains(&tick.abs()) {
        return readable(tick);
    }
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{tick:.decimals$}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, wanted: f64) -> Vec<String> {
        let ticks = Range::exact(low, high).ticks(wanted);
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(labels(0.0, 10.0, 5.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-150.0, 40.0, 4.0), ["−150", "−100", "−50", "0"]);
        let ticks = Range::exact(0.0, 1.0).ticks(5.0);
        let ticks: Vec<f64> = ticks.into_iter().map(|(tick, _)| tick).collect();
        assert_eq!(ticks, [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
    }

    #[test]
    fn labels_tell_neighbours_apart() {
        let expected = ["1000.0", "1000.2", "1000.4", "1000.6", "1000.8", "1001.0"];
        assert_eq!(labels(1000.0, 1001.0, 4.0), expected);
        // Long numbers would run into the name of the axis.
        let long = labels(-1.4e7, 0.0, 7.0);
        assert_eq!(
            [&long[0], &long[6], &long[7]].map(String::as_str),
            ["−1.4e7", "−2e6", "0"]
        );
        let expected = ["−1.0", "−0.5", "0.0", "0.5", "1.0"];
        assert_eq!(labels(-1.0, 1.0, 4.0), expected);
    }

    #[test]
    fn wild_numbers_leave_a_range() {
        let range = Range::of([f64::NAN, f64::INFINITY]);
        assert_eq!((range.low, range.high), (0.0, 1.0));
        let range = Range::of([3.0, f64::NAN, 3.0]);
        assert!(range.low < 3.0 && range.high > 3.0 && !range.ticks(4.0).is_empty());
    }
}
