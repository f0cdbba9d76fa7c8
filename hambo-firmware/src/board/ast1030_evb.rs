//! AST1030 evaluation board: a Cortex-M4 that runs from RAM, with the output-enable line on A5,
//! the robot on UART5 and the first watchdog.
//!
//! Here for its emulator, which has a watchdog, tells the level of a pin at any moment, and keeps a
//! flash memory in a file ([`super::nor`]). Nothing of it has run on hardware.

use super::{read, write};
use hambo_core::WorkDone;
use hambo_core::link::device::{BoardStatus, ResetCause};

const MPU_CTRL: usize = 0xe000_ed94;
const MPU_RBAR: usize = 0xe000_ed9c;
const MPU_RASR: usize = 0xe000_eda0;
const GPIO_ABCD_DATA: usize = 0x7e78_0000;
const GPIO_ABCD_DIRECTION: usize = 0x7e78_0004;
const UART5_DATA: usize = 0x7e78_4000;
const UART5_INTERRUPT_ENABLE: usize = 0x7e78_4004;
const UART5_LINE_CONTROL: usize = 0x7e78_400c;
const UART5_LINE_STATUS: usize = 0x7e78_4014;
const WDT_RELOAD: usize = 0x7e78_5004;
const WDT_RESTART: usize = 0x7e78_5008;
const WDT_CONTROL: usize = 0x7e78_500c;

/// Output enable is A5.
const PIN: u32 = 5;

/// QEMU clocks SysTick of this board at 200 MHz and executes 10⁹ instructions per second.
pub const INSTRUCTIONS_PER_TICK: (u64, u64) = (5, 1);

/// Ticks of SysTick at 200 MHz.
pub const TICKS_PER_MILLISECOND: u64 = 200_000;

/// Milliseconds in which every slice of the check is done at 200 MHz.
pub const SLICE_LIMIT: u32 = 200;

/// The first 640 KiB, which hold program, floor and bundle, become read-only: what is flash
/// elsewhere is RAM here, and a stack that overflows must not run into it.
pub fn start() {
    // Regions 0 and 1: 2^19 bytes from address 0 and 2^17 behind them, read-only for all,
    // executable.
    for (region, address, size) in [(0, 0, 19), (1, 0x8_0000, 17)] {
        write(MPU_RBAR, address | 1 << 4 | region);
        write(
            MPU_RASR,
            0b111 << 24 | 0b001_000 << 16 | (size - 1) << 1 | 1,
        );
    }
    protect(true);
}

/// Whether these regions are read-only; elsewhere the default map holds.
pub(super) fn protect(on: bool) {
    write(MPU_CTRL, if on { 0b101 } else { 0 });
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
}

/// Drives the output-enable line low, from anywhere, also from a fault. Nothing else is on
/// this port.
pub fn outputs_off() {
    write(GPIO_ABCD_DATA, 0);
}

/// Drives it high.
pub(super) fn outputs_on() {
    write(GPIO_ABCD_DATA, 1 << PIN);
}

/// Makes A5 an output that is low from its first moment.
pub(super) fn prepare_output() {
    outputs_off();
    write(GPIO_ABCD_DIRECTION, 1 << PIN);
}

/// That of UART5.
pub const RECEIVE_INTERRUPT: u16 = 8;

/// That of UART1, which nothing here uses: the program asks for it.
pub const LOOP_INTERRUPT: u16 = 47;

/// The byte that has come in, for the interrupt alone.
pub fn received() -> Option<u8> {
    (read(UART5_LINE_STATUS) & 1 != 0).then(|| read(UART5_DATA) as u8)
}

/// The serial line to the robot, or to a host that plays it.
#[derive(Debug)]
pub struct Uart(());

impl Uart {
    /// Eight bits; the speed is as the chip starts. A byte that has come in is an interrupt.
    #[expect(clippy::new_without_default, reason = "it sets the hardware up")]
    pub fn new() -> Self {
        write(UART5_LINE_CONTROL, 0b11);
        write(UART5_INTERRUPT_ENABLE, 1);
        Self(())
    }

    pub(super) fn has_room(&self) -> bool {
        read(UART5_LINE_STATUS) & 1 << 5 != 0
    }

    pub(super) fn put(&mut self, byte: u8) {
        write(UART5_DATA, u32::from(byte));
    }
}

/// The first watchdog, on a clock of 1 MHz.
#[derive(Debug)]
pub struct Watchdog(());

/// Enabled, resets the system, by the clock of 1 MHz.
const ENABLED: u32 = 1 << 4 | 1 << 1 | 1;

impl Watchdog {
    /// Starts it: a reset follows unless it is fed in time. Never `None` on this board.
    pub fn start(milliseconds: u32) -> Option<Self> {
        let mut watchdog = Self(());
        watchdog.limit(milliseconds)?;
        write(WDT_CONTROL, ENABLED);
        Some(watchdog)
    }

    /// From now on the limit is another one, which begins now. Never `None` on this board.
    pub fn limit(&mut self, milliseconds: u32) -> Option<()> {
        write(WDT_RELOAD, ticks(milliseconds));
        write(WDT_RESTART, 0x4755);
        Some(())
    }

    /// Whether it runs with this limit, by its registers: what a store that was not executed
    /// leaves behind does not.
    #[inline(never)]
    pub fn runs_with(&self, milliseconds: u32) -> bool {
        read(WDT_CONTROL) & ENABLED == ENABLED && read(WDT_RELOAD) == ticks(milliseconds)
    }

    /// Begins the limit again, against a proof that work went on.
    pub fn feed(&mut self, _proof: WorkDone) {
        write(WDT_RESTART, 0x4755);
    }
}

fn ticks(milliseconds: u32) -> u32 {
    milliseconds.saturating_mul(1000)
}

/// The emulator models none of it.
pub fn status() -> BoardStatus {
    BoardStatus {
        reset: ResetCause::Unknown,
        brown_out_level: None,
        read_out_protected: None,
    }
}
