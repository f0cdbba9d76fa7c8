//! The parts of the glitch campaign by hand: the gdb client against a scripted stub, lengths of
//! instructions, IT blocks, symbols, the pin's log.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use hambo_tests::glitch::gdb::{Gdb, PC, Stop};
use hambo_tests::glitch::images::{VERDICTS, Verdict, weight};
use hambo_tests::glitch::program::{Program, Symbol};
use hambo_tests::glitch::{pin, thumb};

const SECOND: Duration = Duration::from_secs(1);

/// Answers each packet that must come next, and closes.
fn stub(script: &'static [(&'static str, &'static str)]) -> UnixStream {
    let (near, mut far) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        for (expected, answer) in script {
            let mut packet = Vec::new();
            while packet.len() < 3 || packet[packet.len() - 3] != b'#' {
                let mut byte = [0];
                far.read_exact(&mut byte).unwrap();
                // Acknowledgements of the packet before.
                if packet.is_empty() && byte[0] == b'+' {
                    continue;
                }
                packet.extend(byte);
            }
            assert_eq!(String::from_utf8(packet).unwrap(), *expected);
            far.write_all(answer.as_bytes()).unwrap();
        }
    });
    near
}

#[test]
fn the_client_speaks_the_protocol() {
    let stream = stub(&[
        ("$qXfer:features:read:target.xml:0,ffb#79", "+$l<?xml?>#00"),
        ("$pf#d6", "+$00040008#00"),
        ("$P0=78563412#61", "+$OK#9a"),
        ("$m20000000,3#4e", "+$01ff00#00"),
        ("$M8080000,2:abcd#cf", "+$OK#9a"),
        ("$Z1,8000400,2#71", "+$OK#9a"),
        ("$c#63", "+$T05thread:01;#07"),
        ("$z1,8000400,2#91", "+$E22#a9"),
        // The emulator's monitor speaks in packets of its own.
        ("$qRcmd,6c6f#58", "+$O6869#00+$O21#00$OK#9a"),
        ("$s#73", "+$W00#b7"),
    ]);
    let mut gdb = Gdb::new(stream).unwrap();
    assert_eq!(gdb.register(PC).unwrap(), 0x0800_0400);
    gdb.set_register(0, 0x1234_5678).unwrap();
    assert_eq!(gdb.memory(0x2000_0000, 3).unwrap(), [1, 0xFF, 0]);
    gdb.set_memory(0x0808_0000, &[0xAB, 0xCD]).unwrap();
    gdb.set_breakpoint(0x0800_0400).unwrap();
    assert_eq!(gdb.proceed(SECOND).unwrap(), Stop::Halted);
    assert!(gdb.clear_breakpoint(0x0800_0400).is_err());
    assert_eq!(gdb.monitor("lo").unwrap(), "hi!");
    assert_eq!(gdb.step(SECOND).unwrap(), Stop::Gone);
    assert!(gdb.register(PC).is_err());
}

#[test]
fn a_processor_that_runs_on_is_told_from_one_that_is_gone() {
    let stream = stub(&[
        ("$qXfer:features:read:target.xml:0,ffb#79", "+$l#6c"),
        ("$c#63", "+"),
        ("\u{3}$s#73", "+$T02#00"),
    ]);
    let mut gdb = Gdb::new(stream).unwrap();
    let shortly = Duration::from_millis(50);
    assert_eq!(gdb.proceed(shortly).unwrap(), Stop::Running);
    assert_eq!(gdb.interrupt(shortly).unwrap(), Stop::Running);
    assert_eq!(gdb.step(SECOND).unwrap(), Stop::Halted);
}

#[test]
fn lengths_of_thumb_instructions() {
    // nop, b, ldr literal; bl, ldr.w, vmov.
    for short in [0xBF00, 0xE7FE, 0x4800] {
        assert_eq!(thumb::length(short), 2);
    }
    for long in [0xF000, 0xF8DF, 0xEEB0, 0xE92D] {
        assert_eq!(thumb::length(long), 4);
    }
}

/// `ITTE EQ` has the state 0000_0110: the conditions EQ, EQ and NE, and then none.
#[test]
fn an_it_block_goes_on_behind_a_skipped_instruction() {
    let status = |it: u32| 0x6100_0000 | (it & 0b11) << 25 | (it & 0xFC) << 8;
    let states = [0b0000_0110, 0b0000_1100, 0b0001_1000, 0];
    for pair in states.windows(2) {
        assert_eq!(thumb::past_one(status(pair[0])), status(pair[1]));
    }
    assert_eq!(thumb::past_one(status(0)), status(0));
}

#[test]
fn stores_of_any_size_may_raise_the_pin() {
    let line = |port: char, size: u32, offset: u32, value: u32| {
        format!(
            "GPIO{port}: unimplemented device write (size {size}, offset 0x{offset:03x}, \
             value 0x{value:08x})\n"
        )
    };
    for high in [(4, 0x18, 0x20), (1, 0x18, 0x20), (2, 0x14, 0xFFFF)] {
        assert!(pin::driven_high(&line('A', high.0, high.1, high.2)));
    }
    // The reset half, another line, another byte of the register, the mode, another port.
    for low in [
        (4, 0x18, 0x20_0000),
        (4, 0x18, 0x40),
        (1, 0x19, 0x20),
        (4, 0, 0x20),
    ] {
        assert!(!pin::driven_high(&line('A', low.0, low.1, low.2)));
    }
    assert!(!pin::driven_high(&line('B', 4, 0x18, 0x20)));
    let blink = line('A', 4, 0x18, 0x20) + &line('A', 4, 0x18, 0x20_0000);
    assert!(pin::driven_high(&blink));
    assert!(!pin::driven_high(
        "GPIOA: unimplemented device read  (size 4, offset 0x018)\n"
    ));
}

/// One segment of code, a function, a static and a label.
fn small_elf() -> Vec<u8> {
    let mut elf = vec![0; 52];
    let mut put = |at: usize, bytes: &[u8]| elf[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"\x7fELF\x01\x01\x01");
    put(28, &52_u32.to_le_bytes());
    put(32, &84_u32.to_le_bytes());
    put(42, &32_u16.to_le_bytes());
    put(44, &1_u16.to_le_bytes());
    put(46, &40_u16.to_le_bytes());
    put(48, &3_u16.to_le_bytes());
    put(50, &2_u16.to_le_bytes());
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let names = b"\0_ZN5hambo4gate3run17h0123456789abcdefE\0HAMBO_DECISION\0_top\0";
    let code = 204 + 64;
    let parts: [Vec<u8>; 7] = [
        words(&[1, code, 0x0800_0000, 0x0800_0000, 4, 4, 5, 0]),
        words(&[0; 10]),
        words(&[0, 2, 0, 0, 204, 64, 2, 0, 0, 16]),
        words(&[0, 3, 0, 0, code + 4, names.len() as u32, 0, 0, 0, 0]),
        words(&[0; 4]),
        [
            words(&[1, 0x0800_0001, 4, 2]),
            words(&[40, 0x2000_0000, 8, 1]),
            words(&[55, 0x2000_B000, 0, 0]),
        ]
        .concat(),
        vec![0x00, 0xBF, 0xAB, 0xBE],
    ];
    elf.extend(parts.concat());
    elf.extend(names);
    elf
}

#[test]
fn symbols_and_code_of_a_file() {
    let program = Program::parse(&small_elf()).unwrap();
    let names: Vec<&str> = program.symbols.iter().map(Symbol::short).collect();
    assert_eq!(names, ["run", "HAMBO_DECISION"]);
    assert_eq!(program.matching("hambo*4gate*3run17h").count(), 1);
    assert_eq!(program.matching("hambo*5check17h").count(), 0);
    let at = |address| program.symbol_at(address).map(Symbol::short);
    assert_eq!((at(0x0800_0002), at(0x0800_0004)), (Some("run"), None));
    assert_eq!(at(0x2000_0007), Some("HAMBO_DECISION"));
    assert_eq!(program.label("_top"), Some(0x2000_B000));
    assert_eq!(program.places_of(0xBEAB), [0x0800_0002]);
    let short = |name: &str| {
        let name = name.to_owned();
        let symbol = Symbol {
            name,
            address: 0,
            size: 0,
        };
        symbol.short().to_owned()
    };
    assert_eq!(
        short("_RNvNtCs7NhdfSRABLd_17compiler_builtins3mem6memcpy"),
        "memcpy"
    );
    let division = "_RNvNtNtCs7NhdfSRABLd_17compiler_builtins5float3div8___divdf3";
    assert_eq!(short(division), "__divdf3");
    assert_eq!(short("__aeabi_memcpy4"), "__aeabi_memcpy4");
    let elf = small_elf();
    for length in 0..elf.len() - 60 {
        assert!(Program::parse(&elf[..length]).is_err(), "{length} bytes");
    }
}

#[test]
fn the_images_differ_in_one_place_each() {
    let image = |verdict: Verdict| verdict.flash(false).unwrap().bytes;
    let deploy = image(Verdict::Deploy);
    let place = weight(&deploy).unwrap();
    assert_eq!(deploy[place..place + 4], 1.0_f32.to_le_bytes());
    let refused = image(Verdict::Refused);
    let differing = deploy.iter().zip(&refused).filter(|(a, b)| a != b);
    assert_eq!(differing.count(), 1);
    for verdict in VERDICTS {
        assert_eq!(image(verdict).len(), deploy.len());
        assert_eq!(Verdict::named(verdict.name()), Some(verdict));
    }
}
