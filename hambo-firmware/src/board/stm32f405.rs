//! STM32F405 with the output-enable line on PA5, the robot on USART1 (PA9 out, PA10 in, eight
//! bits at 115,200 baud) and the independent watchdog.

#[path = "stm32f405_line.rs"]
mod line;

use line::{GPIOA_BSRR, GPIOA_MODER, PIN, RCC_AHB1ENR};
pub use line::{outputs_off, prepare_output};

use super::{read, write};
use hambo_core::WorkDone;
use hambo_core::link::device::{BoardStatus, ResetCause};

const RCC_APB2ENR: usize = 0x4002_3844;
const RCC_CSR: usize = 0x4002_3874;
const FLASH_OPTCR: usize = 0x4002_3c14;
const GPIOA_PUPDR: usize = 0x4002_000c;
const GPIOA_AFRH: usize = 0x4002_0024;
const USART1_SR: usize = 0x4001_1000;
const USART1_DR: usize = 0x4001_1004;
const USART1_BRR: usize = 0x4001_1008;
const USART1_CR1: usize = 0x4001_100c;
const IWDG_KR: usize = 0x4000_3000;
const IWDG_PR: usize = 0x4000_3004;
const IWDG_RLR: usize = 0x4000_3008;
const IWDG_SR: usize = 0x4000_300c;

/// QEMU clocks SysTick of this board at 168 MHz and executes 10⁹ instructions per second.
pub const INSTRUCTIONS_PER_TICK: (u64, u64) = (125, 21);

/// Ticks of SysTick at the 16 MHz that the chip starts with.
pub const TICKS_PER_MILLISECOND: u64 = 16_000;

/// Milliseconds in which every slice of the check is done at the 16 MHz that the chip starts
/// with, also the longest: the interval of a share of trajectories, in `f64` by software.
pub const SLICE_LIMIT: u32 = 2000;

/// What must be set up before anything else: nothing. The stack lies at the bottom of RAM, and
/// flash cannot be written by a store.
pub fn start() {}

/// Drives the output-enable line high.
pub(super) fn outputs_on() {
    write(GPIOA_BSRR, 1 << PIN);
}

/// A byte came in.
const RXNE: u32 = 1 << 5;
/// A byte was lost: an interrupt too, until the next byte is taken.
const ORE: u32 = 1 << 3;
/// The next byte may go out.
const TXE: u32 = 1 << 7;
/// Receiver, transmitter, and the whole unit.
const RE_TE_UE: u32 = 1 << 2 | 1 << 3 | 1 << 13;

/// A byte that came in is an interrupt.
const RXNEIE: u32 = 1 << 5;

/// That of USART1.
pub const RECEIVE_INTERRUPT: u16 = 37;

/// That of UART4, which nothing here uses: the program asks for it.
pub const LOOP_INTERRUPT: u16 = 52;

/// The byte that has come in, for the interrupt alone. Reading status and data, in this order,
/// also takes away that a byte before it was lost.
pub fn received() -> Option<u8> {
    (read(USART1_SR) & (RXNE | ORE) != 0).then(|| read(USART1_DR) as u8)
}

/// 115,200 baud from the 16 MHz that the chip starts with.
const DIVIDER: u32 = 139;

/// The serial line to the robot, or to a host that plays it.
#[derive(Debug)]
pub struct Uart(());

impl Uart {
    /// Gives PA9 and PA10 to the USART and starts it. Other pins stay as they are. A byte that
    /// has come in is an interrupt.
    #[expect(clippy::new_without_default, reason = "it sets the hardware up")]
    pub fn new() -> Self {
        write(RCC_AHB1ENR, read(RCC_AHB1ENR) | 1);
        write(RCC_APB2ENR, read(RCC_APB2ENR) | 1 << 4);
        // The clocks run two cycles after the store.
        let _ = read(RCC_APB2ENR);
        // Function 7, then the direction: alternate function.
        let others = read(GPIOA_AFRH) & !(0xff << 4);
        write(GPIOA_AFRH, others | 0x77 << 4);
        let others = read(GPIOA_MODER) & !(0b1111 << 18);
        write(GPIOA_MODER, others | 0b1010 << 18);
        // A line that nobody holds is idle, not noise.
        let others = read(GPIOA_PUPDR) & !(0b11 << 20);
        write(GPIOA_PUPDR, others | 0b01 << 20);
        write(USART1_BRR, DIVIDER);
        write(USART1_CR1, RE_TE_UE | RXNEIE);
        Self(())
    }

    pub(super) fn has_room(&self) -> bool {
        read(USART1_SR) & TXE != 0
    }

    pub(super) fn put(&mut self, byte: u8) {
        write(USART1_DR, u32::from(byte));
    }
}

/// The independent watchdog: it has a clock of its own, and nothing but a reset stops it.
/// That clock is 32 kHz, and between 17 and 47 kHz in the data sheet: a limit may be
/// half as long again or twice as long as asked.
#[derive(Debug)]
pub struct Watchdog(());

/// Polls until a new limit must have been taken over: more than ten times the five ticks of the
/// slowest clock that it takes.
const UPDATE_POLLS: u32 = 10_000;

impl Watchdog {
    /// Starts it: a reset follows unless it is fed in time. `None` if it does not take the
    /// limit.
    pub fn start(milliseconds: u32) -> Option<Self> {
        let mut watchdog = Self(());
        write(IWDG_KR, 0xcccc);
        watchdog.limit(milliseconds)?;
        Some(watchdog)
    }

    /// From now on the limit is another one, which begins now. `None` if it is not taken.
    pub fn limit(&mut self, milliseconds: u32) -> Option<()> {
        let (divider, ticks) = divided(milliseconds);
        // A limit under way must be taken over before the next is written.
        settled()?;
        write(IWDG_KR, 0x5555);
        write(IWDG_PR, divider);
        write(IWDG_RLR, ticks);
        settled()?;
        write(IWDG_KR, 0xaaaa);
        Some(())
    }

    /// Whether it runs with this limit, by its registers: what a store that was not executed
    /// leaves behind does not. The clock of its own runs from its start on. The emulated chip
    /// has none.
    pub fn runs_with(&self, milliseconds: u32) -> bool {
        let wanted = divided(milliseconds);
        let clock_is_on = read(RCC_CSR) & 1 << 1 != 0;
        let limit = (read(IWDG_PR) & 0b111, read(IWDG_RLR) & 0xfff);
        cfg!(feature = "semihosting") || clock_is_on && settled().is_some() && limit == wanted
    }

    /// Begins the limit again, against a proof that work went on.
    pub fn feed(&mut self, _proof: WorkDone) {
        write(IWDG_KR, 0xaaaa);
    }
}

/// Divider and reload: a tick is 1 ms by the divider of 32, and 8 ms by that of 256.
fn divided(milliseconds: u32) -> (u32, u32) {
    match milliseconds {
        0..=4095 => (3, milliseconds),
        _ => (6, (milliseconds / 8).min(4095)),
    }
}

/// Waits until divider and reload are taken over.
fn settled() -> Option<()> {
    (0..UPDATE_POLLS)
        .any(|_| read(IWDG_SR) & 0b11 == 0)
        .then_some(())
}

/// Why the chip started, and how it is protected. Clears the flags of the reset.
pub fn status() -> BoardStatus {
    let flags = read(RCC_CSR);
    if flags >> 25 == 0 {
        // Every reset sets a flag: there is no such register, as under emulation.
        return BoardStatus {
            reset: ResetCause::Unknown,
            brown_out_level: None,
            read_out_protected: None,
        };
    }
    write(RCC_CSR, flags | 1 << 24);
    let options = read(FLASH_OPTCR);
    let is_set = |bit: u32| flags & 1 << bit != 0;
    BoardStatus {
        // A watchdog's reset sets the pin's flag too, and a brown-out that of power-on.
        reset: if is_set(29) || is_set(30) {
            ResetCause::Watchdog
        } else if is_set(28) {
            ResetCause::Software
        } else if is_set(27) {
            ResetCause::PowerOn
        } else if is_set(25) {
            ResetCause::BrownOut
        } else if is_set(26) {
            ResetCause::Pin
        } else {
            ResetCause::Unknown
        },
        // 0b11 is off; level 3 is 0b00.
        brown_out_level: Some(3_u8.saturating_sub((options >> 2 & 0b11) as u8)),
        read_out_protected: Some(options >> 8 & 0xff != 0xaa),
    }
}
