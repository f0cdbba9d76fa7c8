//! What a monitor remembers from one transition to the next, for a checksum.

use super::last_transitions::LastTransitions;
use super::wager::Wager;
use super::watch::Monitor;
use crate::numeric::checksum::Checksum;

impl Monitor<'_> {
    /// Adds all of it.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        sum.place(self.model);
        sum.place(self.task);
        sum.place(&*self.rows);
        sum.numbers(&[self.noise_width]);
        self.surprises.add_to(sum);
        self.outside.add_to(sum);
        sum.value(&(self.counts, self.trip));
    }
}

impl LastTransitions<'_> {
    /// Adds where the next transition goes, not those that are kept: one that is written
    /// elsewhere changes what is remembered there.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        sum.place(&*self.numbers);
        sum.bytes(&self.width.get().to_le_bytes());
        sum.bytes(&self.place.to_le_bytes());
        sum.bytes(&[u8::from(self.is_full)]);
    }
}

impl Wager {
    fn add_to(&self, sum: &mut Checksum) {
        sum.numbers(&self.growth);
        sum.numbers(&self.wealth);
        sum.numbers(&[self.limit]);
        sum.bytes(&self.steps.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::monitor::observation::{Measured, Trip};
    use crate::example;
    use crate::image::MonitorSettings;

    fn sum(monitor: &Monitor<'_>) -> u32 {
        let mut sum = Checksum::new();
        monitor.add_to(&mut sum);
        sum.finish().unwrap()
    }

    #[test]
    fn every_flipped_bit_of_a_monitor_changes_the_sum() {
        let image = example::image().unwrap();
        let settings = MonitorSettings {
            noise_width: 2.6,
            surprise_rate: 0.05,
            alpha: 0.01,
        };
        let mut rows = [[0.0]; 32];
        let monitor = Monitor::new(image.model(), image.task(), settings, &mut rows);
        let mut monitor = monitor.unwrap();
        monitor.observe(&Measured {
            state: &[1.0],
            action: &[-0.5],
            next_state: &[0.75],
            is_fresh: true,
        });
        let own = sum(&monitor);
        assert_eq!(sum(&monitor), own);
        for bit in 0..32 {
            let flip = |number: &mut f32| *number = f32::from_bits(number.to_bits() ^ 1 << bit);
            for place in 0..18 {
                let number = |monitor: &mut Monitor<'_>| match place {
                    0..4 => flip(&mut monitor.surprises.wealth[place]),
                    4..8 => flip(&mut monitor.surprises.growth[place - 4]),
                    8 => flip(&mut monitor.surprises.limit),
                    9..13 => flip(&mut monitor.outside.wealth[place - 9]),
                    13 => flip(&mut monitor.outside.limit),
                    14 => flip(&mut monitor.noise_width),
                    15 => monitor.counts.steps ^= 1 << bit,
                    16 => monitor.surprises.steps ^= 1 << bit,
                    _ => monitor.outside.steps ^= 1 << (63 - bit),
                };
                number(&mut monitor);
                assert_ne!(sum(&monitor), own, "{place}, bit {bit}");
                number(&mut monitor);
                assert_eq!(sum(&monitor), own);
            }
        }
        monitor.trip = Some(Trip::Far(0));
        let tripped = sum(&monitor);
        monitor.trip = Some(Trip::Far(1));
        assert!(tripped != own && sum(&monitor) != tripped);
    }
}
