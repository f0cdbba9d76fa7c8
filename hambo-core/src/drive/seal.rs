//! What a drive remembers from one period to the next, in one number.
//!
//! Between two periods the memory rests: whatever changes there is a fault. The checksum at
//! the end of a period and the one at the beginning of the next tell.

use super::named::Named;
use super::period::Drive;
use crate::numeric::checksum::Checksum;

impl Drive<'_> {
    /// Whether all that is remembered is as the last period left it, and what was read from the
    /// bundle as it was checked.
    pub(super) fn is_sealed(&self) -> bool {
        let mut permitted = self.permitted.iter();
        permitted.all(Named::is_as_checked) && self.is_remembered()
    }

    /// Whether all that is remembered is as it was left.
    pub(super) fn is_remembered(&self) -> bool {
        match (self.seal, self.checksum()) {
            (Some(before), Some(now)) => before == now,
            _ => false,
        }
    }

    /// The checksum of all that the next period rests on: who drives, the monitor with its wagers
    /// and its latch, the last state and action, and where everything lies. `None` if it
    /// cannot be told.
    #[inline(never)]
    pub(super) fn checksum(&self) -> Option<u32> {
        let mut sum = Checksum::new();
        sum.place(self.task);
        sum.place(self.policy);
        if let Some(fallback) = self.fallback {
            sum.place(fallback);
        }
        self.monitor.add_to(&mut sum);
        self.last.add_to(&mut sum);
        let rows = &self.rows;
        for row in [
            &rows.before,
            &rows.now,
            &rows.seen,
            &rows.next_seen,
            &rows.action,
        ] {
            sum.place(&**row);
            sum.numbers(row.as_flattened());
        }
        for scratch in [
            &rows.wanted,
            &rows.noise,
            &rows.scratch,
            &rows.features,
            &rows.values,
        ] {
            sum.place(&**scratch);
        }
        // The generator has no other way to look at it; the first word does not show its lowest
        // bits.
        let mut stream = self.stream.clone();
        let drawn = [stream.uniform(), stream.uniform()];
        sum.numbers(&drawn);
        if let Some(permitted) = &self.permitted {
            sum.bytes(&permitted.bundle);
            sum.bytes(&permitted.policy);
            sum.place(permitted.read);
            sum.value(&permitted.checksum);
            permitted.rounds.add_to(&mut sum);
        }
        let flags = (self.has_before, self.was_fresh, self.fallback.is_some());
        sum.value(&(self.mode, self.ticks, self.measured, flags, self.digest));
        sum.finish()
    }
}
