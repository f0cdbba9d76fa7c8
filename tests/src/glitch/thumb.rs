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

/// Whether the instruction that begins with these halfwords stores to memory.
#[must_use]
pub fn is_store(first: u16, second: u16) -> bool {
    match length(first) {
        2 => {
            // str, strh and strb by a register or a number; relative to the stack; push; stm.
            matches!(first >> 9, 0b010_1000..=0b010_1010)
                || matches!(first >> 11, 0b01100 | 0b01110 | 0b10000 | 0b10010 | 0b11000)
                || first >> 9 == 0b101_1010
        }
        _ => {
            let is_load = first >> 4 & 1 == 1;
            let stores = match first >> 9 & 0b111_1111 {
                // stm and push of many; strd, strex and the like.
                0b111_0100 => true,
                // str, strh and strb.
                0b111_1100 => true,
                // vstr, vstm and vpush, but no move between registers.
                0b111_0110 => second >> 9 & 0b111 == 0b101 && first >> 5 & 0b1111 != 0b0010,
                _ => false,
            };
            stores && !is_load
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_store;

    #[test]
    fn stores_are_told_from_loads() {
        // str r1, [r0]; strb; strh; str [sp]; push; stmia; str by a register.
        for first in [0x6001, 0x7001, 0x8001, 0x9001, 0xb510, 0xc103, 0x5042] {
            assert!(is_store(first, 0), "{first:04x}");
        }
        // ldr r1, [r0]; ldrb; pop; ldmia; movs; ldr of a constant; add sp.
        for first in [0x6801, 0x7801, 0xbd10, 0xc903, 0x2001, 0x4801, 0xb082] {
            assert!(!is_store(first, 0), "{first:04x}");
        }
        // str.w, strd, stmdb (push.w), vstr, vpush.
        for [first, second] in [
            [0xf8c0, 0x1004],
            [0xe9c0, 0x1200],
            [0xe92d, 0x41f0],
            [0xed80, 0x0a00],
            [0xed2d, 0x8b04],
        ] {
            assert!(is_store(first, second), "{first:04x} {second:04x}");
        }
        // ldr.w, ldrd, pop.w, vldr, vmov of two registers, mov.w, bl, mul.
        for [first, second] in [
            [0xf8d0, 0x1004],
            [0xe9d0, 0x1200],
            [0xe8bd, 0x81f0],
            [0xed90, 0x0a00],
            [0xec41, 0x0b10],
            [0xf04f, 0x0100],
            [0xf000, 0xf801],
            [0xfb00, 0xf001],
        ] {
            assert!(!is_store(first, second), "{first:04x} {second:04x}");
        }
    }
}
