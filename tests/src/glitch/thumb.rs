//! What skipping a Thumb instruction takes: its length, and the state of an IT block.

/// The place of `IT[7:2]` and of `IT[1:0]` in the program status register.
const IT_MASK: u32 = 0x0600_FC00;

/// Bytes of the instruction that begins with this halfword.
#[must_use]
pub fn length(first: u16) -> u32 {
    match first >> 11 {
        0b11101..=0b11111 => 4,
        _ => 2,
    }
}

/// The program status register after one instruction of an IT block, whether that was executed
/// or skipped. Outside of a block nothing changes.
#[must_use]
pub fn past_one(status: u32) -> u32 {
    let it = (status >> 25 & 0b11) | (status >> 8 & 0xFC);
    let next = match it & 0b111 {
        0 => 0,
        _ => (it & 0xE0) | (it << 1 & 0x1F),
    };
    (status & !IT_MASK) | (next & 0b11) << 25 | (next & 0xFC) << 8
}
