//! The first program after a reset: who signed the bundle, and who the floor?
//!
//! It leaves the hashes that it verified, or why not, in memory for the gate, and starts it whatever
//! it found: the gate refuses what is not verified, and says so. What is built in are two public
//! keys, one for bundles and one for floors. The line is low all the time; a panic or a fault
//! resets the board.
#![no_std]
#![no_main]
#![allow(
    unsafe_code,
    reason = "registers, linker symbols, and the jump to the next program"
)]

use core::{hint::black_box, panic::PanicInfo, ptr, slice};

use cortex_m::peripheral::{SCB, syst::SystClkSource};
use cortex_m_rt::{STACK_PAINT_VALUE, exception};
use hambo_core::image::{Role, Signed};
use hambo_core::link::handover::{Doubt, Handover, Verified, WORDS};
use salty::{PublicKey, Signature};

mod keys {
    include!(concat!(env!("OUT_DIR"), "/keys.rs"));
}

unsafe extern "C" {
    static _floor_start: u8;
    static _floor_end: u8;
    static _model_start: u8;
    static _model_end: u8;
    static _candidate_start: u8;
    static _gate_start: u32;
    static _stack_start: u32;
    static _stack_end: u32;
    static mut _handover_start: u32;
}

#[cortex_m_rt::entry]
fn main() -> ! {
    line_low();
    count();
    // What an earlier start left is worth nothing from here on.
    leave(&[0; WORDS]);
    let [model, candidate, floor] = regions();
    let handover = Handover {
        bundle: look(model, Role::Controllers),
        candidate: look(candidate, Role::Controllers),
        floor: look(floor, Role::Floor),
    };
    leave(&handover.to_words());
    leave_stack();
    start_the_gate()
}

/// SysTick counts down from here; the gate tells how far it came.
fn count() {
    if let Some(peripherals) = cortex_m::Peripherals::take() {
        let mut systick = peripherals.SYST;
        systick.set_clock_source(SystClkSource::Core);
        systick.set_reload(0x00ff_ffff);
        systick.clear_current();
        systick.enable_counter();
    }
}

/// Who signed what begins here?
#[inline(never)]
fn look(region: &'static [u8], role: Role) -> Verified {
    let Some([controllers, floor]) = keys::KEYS else {
        return Err(Doubt::NoKeys);
    };
    let key = match role {
        Role::Controllers => controllers,
        Role::Floor => floor,
    };
    let signed = Signed::parse_prefix(region, role).map_err(|_| Doubt::Unsigned)?;
    if signed.manifest.key != key {
        return Err(Doubt::OtherKey);
    }
    // Twice, from the bytes: one instruction that is skipped opens nothing.
    let first = verified(&key, &signed)?;
    let second = verified(&black_box(key), &black_box(signed))?;
    if first == second {
        Ok(second)
    } else {
        Err(Doubt::Changed)
    }
}

/// The hash of the bytes that were signed with this key.
#[inline(never)]
fn verified(key: &[u8; 32], signed: &Signed<'_>) -> Verified {
    let message = signed.message();
    let signature = Signature::from(&signed.signature());
    let key = PublicKey::try_from(key).map_err(|_| Doubt::OtherKey)?;
    key.verify(&message, &signature).map_err(|_| Doubt::Wrong)?;
    // The role first, then the hash.
    let hash = message.last_chunk::<32>();
    hash.copied().ok_or(Doubt::Wrong)
}

/// Bundle, candidate and floor.
fn regions() -> [&'static [u8]; 3] {
    let region = |start: *const u8, end: *const u8| {
        // SAFETY: the ends of regions of flash that the linker script gives and nothing writes.
        unsafe { slice::from_raw_parts(start, end.addr() - start.addr()) }
    };
    [
        region(&raw const _model_start, &raw const _model_end),
        region(&raw const _candidate_start, &raw const _model_end),
        region(&raw const _floor_start, &raw const _floor_end),
    ]
}

/// Writes the words for the gate.
fn leave(words: &[u32; WORDS]) {
    let start = &raw mut _handover_start;
    for (place, word) in words.iter().enumerate() {
        // SAFETY: the region is longer than `WORDS` words, and only this program writes it.
        unsafe { start.add(place).write_volatile(*word) };
    }
}

/// How much stack was ever in use, in a word behind the others: start-up paints it. The gate logs it.
fn leave_stack() {
    let (top, mut word) = (&raw const _stack_start, &raw const _stack_end);
    // SAFETY: inside the stack region, which may be read; volatile, for this frame is in it.
    while word < top && unsafe { word.read_volatile() } == STACK_PAINT_VALUE {
        word = word.wrapping_add(1);
    }
    let used = (top.addr() - word.addr()) as u32;
    // SAFETY: the region has room for it, and only this program writes it.
    unsafe { (&raw mut _handover_start).add(WORDS).write_volatile(used) };
}

/// Its vectors, its stack, its first instruction.
fn start_the_gate() -> ! {
    let vectors = &raw const _gate_start;
    // SAFETY: the gate's vector table lies there, aligned; no interrupt is on, and nothing of
    // this program is needed any more.
    unsafe {
        (*SCB::PTR).vtor.write(vectors.addr() as u32);
        cortex_m::asm::dsb();
        cortex_m::asm::bootload(vectors)
    }
}

const RCC_AHB1ENR: usize = 0x4002_3830;
const GPIOA_MODER: usize = 0x4002_0000;
const GPIOA_BSRR: usize = 0x4002_0018;

/// PA5 is an output that is low from its first moment, as in the gate.
fn line_low() {
    let read = |register: usize| {
        // SAFETY: a register of this chip that may be read at any time.
        unsafe { ptr::read_volatile(ptr::with_exposed_provenance::<u32>(register)) }
    };
    let write = |register: usize, value: u32| {
        // SAFETY: a register of this chip; no Rust value lies there.
        unsafe { ptr::write_volatile(ptr::with_exposed_provenance_mut(register), value) }
    };
    write(RCC_AHB1ENR, read(RCC_AHB1ENR) | 1);
    let _ = read(RCC_AHB1ENR);
    write(GPIOA_BSRR, 1 << 21);
    write(GPIOA_MODER, read(GPIOA_MODER) & !(0b11 << 10) | 0b01 << 10);
}

#[exception]
unsafe fn HardFault(_frame: &cortex_m_rt::ExceptionFrame) -> ! {
    SCB::sys_reset()
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    SCB::sys_reset()
}
