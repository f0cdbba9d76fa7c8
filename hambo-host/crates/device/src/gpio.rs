//! What the firmware did to its pins.
//!
//! QEMU does not model this chip's ports; it reports every access to them.

/// The set/reset register of a port.
const BSRR: u32 = 0x18;
/// The output data register of a port.
const ODR: u32 = 0x14;
/// The output-enable line is PA5.
const ENABLE: u32 = 1 << 5;

/// A store to a register of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpioWrite {
    /// The port's letter.
    pub port: char,
    /// The register's offset.
    pub offset: u32,
    /// What was stored.
    pub value: u32,
}

impl GpioWrite {
    /// Reads one of the emulator's lines, if it is about a store to a port.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (port, rest) = line.strip_prefix("GPIO")?.split_once(':')?;
        let (_, offset) = rest
            .strip_prefix(" unimplemented device write")?
            .split_once("offset 0x")?;
        let (offset, value) = offset.split_once(", value 0x")?;
        Some(Self {
            port: port.chars().next()?,
            offset: u32::from_str_radix(offset, 16).ok()?,
            value: u32::from_str_radix(value.trim_end().strip_suffix(')')?, 16).ok()?,
        })
    }

    /// Whether this store drives the output-enable line high.
    #[must_use]
    pub fn enables_outputs(self) -> bool {
        self.port == 'A' && matches!(self.offset, BSRR | ODR) && self.value & ENABLE != 0
    }

    /// Whether it drives the line low. In the set/reset register setting wins over resetting.
    fn disables_outputs(self) -> bool {
        let resets = match self.offset {
            BSRR => self.value & (ENABLE << 16) != 0,
            ODR => true,
            _ => false,
        };
        self.port == 'A' && resets && !self.enables_outputs()
    }
}

/// How often the output-enable line changed its level, from low at the start.
pub(super) fn edges(writes: &[GpioWrite]) -> usize {
    let (mut high, mut edges) = (false, 0);
    for write in writes {
        let now = write.enables_outputs() || high && !write.disables_outputs();
        edges += usize::from(now != high);
        high = now;
    }
    edges
}

/// Whether the output-enable line is high after these stores.
pub(super) fn left_high(writes: &[GpioWrite]) -> bool {
    let mut high = false;
    for write in writes {
        high = write.enables_outputs() || high && !write.disables_outputs();
    }
    high
}

#[cfg(test)]
mod tests {
    use super::{GpioWrite, left_high};

    #[test]
    fn stores_are_read_and_other_lines_are_not() {
        let line = "GPIOA: unimplemented device write (size 4, offset 0x018, value 0x00000020)";
        let write = GpioWrite {
            port: 'A',
            offset: 0x18,
            value: 0x20,
        };
        assert_eq!(GpioWrite::parse(line), Some(write));
        assert!(write.enables_outputs());
        for other in [
            "GPIOA: unimplemented device read  (size 4, offset 0x000)",
            "RCC: unimplemented device write (size 4, offset 0x030, value 0x00000001)",
            "GPIOA: unimplemented device write (size 4, offset 0x018, value 0x",
            "",
        ] {
            assert_eq!(GpioWrite::parse(other), None, "{other}");
        }
    }

    #[test]
    fn only_the_enable_line_going_high_counts() {
        let low = GpioWrite {
            port: 'A',
            offset: 0x18,
            value: 0x0020_0000,
        };
        let direction = GpioWrite {
            port: 'A',
            offset: 0,
            value: 0x20,
        };
        let other_port = GpioWrite {
            port: 'B',
            offset: 0x18,
            value: 0x20,
        };
        for write in [low, direction, other_port] {
            assert!(!write.enables_outputs(), "{write:?}");
        }
    }

    #[test]
    fn the_last_store_to_the_line_counts() {
        let store = |offset, value| GpioWrite {
            port: 'A',
            offset,
            value,
        };
        let (set, reset) = (store(0x18, 0x20), store(0x18, 0x20_0000));
        let (both, other) = (store(0x18, 0x20_0020), store(0x18, 0x40_0000));
        assert!(left_high(&[reset, set]) && left_high(&[set, other]));
        assert!(!left_high(&[]) && !left_high(&[set, reset]));
        // Setting wins over resetting.
        assert!(left_high(&[reset, both]));
        assert!(left_high(&[store(0x14, 0x20)]) && !left_high(&[set, store(0x14, 0)]));
    }
}
