//! The output-enable line, PA5, as QEMU's log of unimplemented devices shows it.

/// Bytes 0x14 to 0x1B of a port: the output data register and the set half of the set/reset
/// register, both of which can drive a line high.
const REGISTERS: std::ops::Range<u32> = 0x14..0x1C;
const ENABLE: u32 = 1 << 5;

/// Whether any line of the log drives the output-enable line high.
#[must_use]
pub fn driven_high(log: &str) -> bool {
    log.lines().any(|line| raises(line).unwrap_or(false))
}

/// Whether one line does; a glitched store may be of any size and begin at any byte.
fn raises(line: &str) -> Option<bool> {
    let rest = line.strip_prefix("GPIOA: unimplemented device write")?;
    let (_, offset) = rest.split_once("offset 0x")?;
    let (offset, value) = offset.split_once(", value 0x")?;
    let offset = u32::from_str_radix(offset, 16).ok()?;
    let value = u64::from_str_radix(value.trim_end().strip_suffix(')')?, 16).ok()?;
    let word = value << (8 * (offset % 4));
    Some(REGISTERS.contains(&offset) && word as u32 & ENABLE != 0)
}
