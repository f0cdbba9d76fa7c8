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

use cortex_m::peripheral::SCB;
use cortex_m_rt::exception;
use hambo_core::image::{Role, Signed};
use hambo_core::link::handover::{Doubt, Handover, Verified, WORDS};
use salty::{PublicKey, Signature};

#[path = "../../src/board/stm32f405_line.rs"]
mod line;

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
    static mut _handover_start: u32;
}

#[cortex_m_rt::entry]
fn main() -> ! {
    line::prepare_output();
    // What an earlier start left is worth nothing from here on.
    leave(&[0; WORDS]);
    let [model, candidate, floor] = regions();
    let handover = Handover {
        bundle: look(model, Role::Controllers),
        candidate: look(candidate, Role::Controllers),
        floor: look(floor, Role::Floor),
    };
    leave(&handover.to_words());
    start_the_gate()
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
        // SAFETY: the region is `WORDS` words long or longer, and only this program writes it.
        unsafe { start.add(place).write_volatile(*word) };
    }
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

/// Reads a register.
fn read(register: usize) -> u32 {
    // SAFETY: only called with the registers that `line` names, which may be read at any time.
    unsafe { ptr::read_volatile(ptr::with_exposed_provenance(register)) }
}

/// Writes a register.
fn write(register: usize, value: u32) {
    // SAFETY: only called with the registers that `line` names; no Rust value lies there.
    unsafe { ptr::write_volatile(ptr::with_exposed_provenance_mut(register), value) }
}

#[exception]
unsafe fn HardFault(_frame: &cortex_m_rt::ExceptionFrame) -> ! {
    SCB::sys_reset()
}

#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    SCB::sys_reset()
}
