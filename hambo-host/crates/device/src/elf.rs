//! The facts about a firmware file that a run needs: where the image goes, and how much memory is used.

use object::elf::PF_W;
use object::read::elf::ElfFile32;
use object::{LittleEndian, Object, ObjectSegment, ObjectSymbol, SegmentFlags};

/// Facts from a firmware's ELF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firmware {
    /// Address of the flash region for the device image.
    pub model_start: u32,
    /// Length of that region in bytes.
    pub model_length: u32,
    /// Address in that region at which a second image may lie.
    pub candidate_start: u32,
    /// Address and length of the flash region for the robot's floor.
    pub floor: (u32, u32),
    /// Code, constants and initial values in flash, in bytes, without the image.
    pub flash_bytes: u32,
    /// Statics in RAM, in bytes, without the stack.
    pub static_bytes: u32,
}

/// Reads a little-endian 32-bit ELF file.
///
/// # Errors
/// What is wrong with the file, for people.
pub fn read_elf(bytes: &[u8]) -> Result<ElfFile32<'_, LittleEndian>, String> {
    ElfFile32::parse(bytes).map_err(|error| format!("no 32-bit little-endian ELF file: {error}"))
}

impl Firmware {
    /// Reads a little-endian 32-bit ELF file.
    ///
    /// # Errors
    /// What is wrong with the file, for people.
    pub fn parse(elf: &[u8]) -> Result<Self, String> {
        Self::new(&read_elf(elf)?).ok_or_else(|| {
            "it is cut short or lacks the symbols of the regions for bundle and floor".into()
        })
    }

    fn new(elf: &ElfFile32<'_, LittleEndian>) -> Option<Self> {
        let (mut flash_bytes, mut static_bytes) = (0, 0);
        for segment in elf.segments() {
            flash_bytes += segment.file_range().1;
            if matches!(segment.flags(), SegmentFlags::Elf { p_flags } if p_flags & PF_W != 0) {
                static_bytes += segment.size();
            }
        }
        let address = |name| u32::try_from(elf.symbol_by_name(name)?.address()).ok();
        let (model_start, model_end) = (address("_model_start")?, address("_model_end")?);
        let (floor_start, floor_end) = (address("_floor_start")?, address("_floor_end")?);
        Some(Self {
            model_start,
            model_length: model_end.checked_sub(model_start)?,
            candidate_start: address("_candidate_start")?.clamp(model_start, model_end),
            floor: (floor_start, floor_end.checked_sub(floor_start)?),
            flash_bytes: u32::try_from(flash_bytes).ok()?,
            static_bytes: u32::try_from(static_bytes).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Firmware;

    /// One writable segment of 130 bytes, of which 100 are loaded, a symbol table and its names.
    fn small_elf() -> Vec<u8> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let halves = |low: u32, high: u32| high << 16 | low;
        let names = b"\0_model_start\0_model_end\0_floor_start\0_floor_end\0_candidate_start\0";
        let parts: [Vec<u8>; 13] = [
            b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec(),
            words(&[0, 1, 0, 52, 84, 0]),
            words(&[halves(52, 32), halves(1, 40), halves(3, 2)]),
            words(&[1, 0, 0, 0, 100, 130, 6, 0]),
            words(&[0; 10]),
            words(&[0, 2, 0, 0, 204, 96, 2, 0, 0, 16]),
            words(&[0, 3, 0, 0, 300, names.len() as u32, 0, 0, 0, 0]),
            words(&[0; 4]),
            words(&[1, 0x0808_0000, 0, 0]),
            words(&[14, 0x0810_0000, 0, 0]),
            words(&[25, 0x0806_0000, 0, 0, 38, 0x0808_0000, 0, 0]),
            words(&[49, 0x080c_0000, 0, 0]),
            names.to_vec(),
        ];
        parts.concat()
    }

    #[test]
    fn reads_the_regions_and_the_memory_used() {
        assert_eq!(
            Firmware::parse(&small_elf()),
            Ok(Firmware {
                model_start: 0x0808_0000,
                model_length: 512 * 1024,
                candidate_start: 0x080c_0000,
                floor: (0x0806_0000, 128 * 1024),
                flash_bytes: 100,
                static_bytes: 130,
            })
        );
    }

    #[test]
    fn every_cut_file_is_an_error() {
        let elf = small_elf();
        for length in 0..elf.len() {
            assert!(Firmware::parse(&elf[..length]).is_err(), "{length} bytes");
        }
    }

    /// Any value of any byte is read or refused, without a panic.
    #[test]
    fn other_files_are_an_error() {
        let elf = small_elf();
        for place in 0..elf.len() {
            for value in 0..=255 {
                let mut bad = elf.clone();
                bad[place] = value;
                let _ = Firmware::parse(&bad);
            }
        }
        // 64 bits, big-endian, a version that does not exist.
        for (place, value) in [(4, 2), (5, 2), (6, 9)] {
            let mut other = elf.clone();
            other[place] = value;
            assert!(Firmware::parse(&other).is_err_and(|error| error.contains("little-endian")));
        }
        assert!(Firmware::parse(b"#!/bin/sh\n").is_err());
    }
}
