//! The output-enable line of the STM32F405 on PA5, for the gate and for the verifier before it.

use super::{read, write};

/// The clocks of the ports.
pub const RCC_AHB1ENR: usize = 0x4002_3830;
/// What each pin of port A does.
pub const GPIOA_MODER: usize = 0x4002_0000;
/// Sets and resets pins of port A.
pub const GPIOA_BSRR: usize = 0x4002_0018;

/// Output enable is PA5.
pub const PIN: u32 = 5;

/// Drives the output-enable line low, from anywhere, also from a fault.
///
/// One store to the set/reset register: needs no lock and no stack.
pub fn outputs_off() {
    write(GPIOA_BSRR, 1 << (PIN + 16));
}

/// Makes PA5 an output that is low from its first moment.
pub fn prepare_output() {
    write(RCC_AHB1ENR, read(RCC_AHB1ENR) | 1);
    // The port's clock runs two cycles after the store; reading back is
    // the wait that the errata sheet asks for.
    let _ = read(RCC_AHB1ENR);
    // The level first, the direction after it.
    outputs_off();
    let others = read(GPIOA_MODER) & !(0b11 << (2 * PIN));
    write(GPIOA_MODER, others | 0b01 << (2 * PIN));
}
