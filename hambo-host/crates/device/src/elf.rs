//! The few facts about a firmware file that a run needs: where the image goes, and how much memory is used.

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

const LOAD: u32 = 1;
/// The flag of a segment that may be written.
const WRITE: u32 = 2;
const SYMBOL_TABLE: u32 = 2;
/// The symbols of the regions for bundle and floor.
const REGIONS: [&[u8]; 5] = [
    b"_model_start\0",
    b"_model_end\0",
    b"_floor_start\0",
    b"_floor_end\0",
    b"_candidate_start\0",
];

impl Firmware {
    /// Reads a little-endian 32-bit ELF file.
    ///
    /// # Errors
    ///
    /// What is wrong with the file, for people.
    pub fn parse(elf: &[u8]) -> Result<Self, String> {
        if !elf.starts_with(b"\x7fELF\x01\x01") {
            return Err("no 32-bit little-endian ELF file".into());
        }
        Self::read(elf).ok_or_else(|| {
            "it is cut short or lacks the symbols of the regions for bundle and floor".into()
        })
    }

    fn read(elf: &[u8]) -> Option<Self> {
        let (mut flash_bytes, mut static_bytes) = (0_u32, 0_u32);
        for segment in table(elf, word(elf, 28)?, half(elf, 42)?, half(elf, 44)?)? {
            if word(segment, 0)? == LOAD {
                flash_bytes = flash_bytes.checked_add(word(segment, 16)?)?;
                if word(segment, 24)? & WRITE != 0 {
                    static_bytes = static_bytes.checked_add(word(segment, 20)?)?;
                }
            }
        }

        let sections: Vec<&[u8]> =
            table(elf, word(elf, 32)?, half(elf, 46)?, half(elf, 48)?)?.collect();
        let mut addresses = [None; REGIONS.len()];
        for section in &sections {
            if word(section, 4)? != SYMBOL_TABLE {
                continue;
            }
            let names = contents(elf, sections.get(word(section, 24)? as usize)?)?;
            for symbol in contents(elf, section)?.chunks_exact(16) {
                let name = names.get(word(symbol, 0)? as usize..)?;
                for (address, region) in addresses.iter_mut().zip(REGIONS) {
                    if name.starts_with(region) {
                        *address = Some(word(symbol, 4)?);
                    }
                }
            }
        }
        let [
            model_start,
            model_end,
            floor_start,
            floor_end,
            candidate_start,
        ] = addresses;
        let (model_start, floor_start) = (model_start?, floor_start?);
        Some(Self {
            model_start,
            model_length: model_end?.checked_sub(model_start)?,
            candidate_start: candidate_start?.max(model_start).min(model_end?),
            floor: (floor_start, floor_end?.checked_sub(floor_start)?),
            flash_bytes,
            static_bytes,
        })
    }
}

/// The entries of a header table.
fn table(elf: &[u8], offset: u32, entry: u16, count: u16) -> Option<impl Iterator<Item = &[u8]>> {
    let length = usize::from(entry) * usize::from(count);
    let bytes = elf.get(offset as usize..)?.get(..length)?;
    Some(bytes.chunks_exact(usize::from(entry).max(1)))
}

/// The bytes that a section header stands for.
fn contents<'a>(elf: &'a [u8], section: &[u8]) -> Option<&'a [u8]> {
    elf.get(word(section, 16)? as usize..)?
        .get(..word(section, 20)? as usize)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::Firmware;

    /// One writable segment of 130 bytes, of which 100 are loaded, a symbol table and its names.
    fn small_elf() -> Vec<u8> {
        let mut elf = vec![0; 52];
        let mut put = |at: usize, bytes: &[u8]| elf[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"\x7fELF\x01\x01");
        put(28, &52_u32.to_le_bytes());
        put(32, &84_u32.to_le_bytes());
        put(42, &32_u16.to_le_bytes());
        put(44, &1_u16.to_le_bytes());
        put(46, &40_u16.to_le_bytes());
        put(48, &2_u16.to_le_bytes());
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let names = b"\0_model_start\0_model_end\0_floor_start\0_floor_end\0_candidate_start\0";
        let parts: [Vec<u8>; 4] = [
            words(&[1, 0, 0, 0, 100, 130, 6, 0]),
            words(&[0, 2, 0, 0, 164, 80, 1, 0, 0, 16]),
            words(&[0, 3, 0, 0, 244, names.len() as u32, 0, 0, 0, 0]),
            words(&[
                1,
                0x0808_0000,
                0,
                0,
                14,
                0x0810_0000,
                0,
                0,
                25,
                0x0806_0000,
                0,
                0,
                38,
                0x0808_0000,
                0,
                0,
                49,
                0x080c_0000,
                0,
                0,
            ]),
        ];
        elf.extend(parts.concat());
        elf.extend(names);
        elf
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
        for length in 0..elf.len() - 1 {
            assert!(Firmware::parse(&elf[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn other_files_are_an_error() {
        assert!(Firmware::parse(b"#!/bin/sh\n").is_err());
    }
}
