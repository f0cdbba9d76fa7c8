//! The firmware's symbols and code, from its ELF file: no address is written down anywhere else.

use hambo_device::read_elf;
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};

/// A name in the firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// As the compiler writes it.
    pub name: String,
    /// Its first byte; of a function without the bit that marks Thumb code.
    pub address: u32,
    /// Bytes.
    pub size: u32,
}

impl Symbol {
    /// The last part of the path, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        let name = &self.name;
        last_part(name).or_else(|| last_name(name)).unwrap_or(name)
    }

    /// Whether an address lies in it.
    #[must_use]
    pub fn contains(&self, address: u32) -> bool {
        address.wrapping_sub(self.address) < self.size
    }
}

/// The last part but the hash of a name such as `_ZN5hambo4gate3run17h0123456789abcdefE`.
fn last_part(name: &str) -> Option<&str> {
    let mut rest = name.strip_prefix("_ZN")?;
    let mut parts = Vec::new();
    while let Some(digits) = rest.find(|letter: char| !letter.is_ascii_digit()) {
        let Ok(length) = rest[..digits].parse::<usize>() else {
            break;
        };
        let part = rest.get(digits..digits + length)?;
        parts.push(part);
        rest = &rest[digits + length..];
    }
    parts.into_iter().rev().nth(1)
}

/// The name at the end of one such as `_RNvNtCs7NhdfSRABLd_17compiler_builtins3mem6memcpy`.
fn last_name(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("_R")?;
    let places = rest.char_indices().filter(|(_, one)| one.is_ascii_digit());
    let mut ends = places.filter_map(|(place, _)| {
        let digits = rest[place..].bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[place..place + digits].parse().ok()?;
        let end = &rest[place + digits..];
        // A line before a name that begins with a line or a digit is not part of it.
        let named = [end, end.strip_prefix('_').unwrap_or(end)];
        named.into_iter().find(|end| end.len() == length)
    });
    ends.next()
}

/// A firmware file.
#[derive(Clone, Debug)]
pub struct Program {
    /// Functions and statics, in the order of their addresses.
    pub symbols: Vec<Symbol>,
    /// Addresses from the linker script, such as `_stack_start`.
    labels: Vec<(String, u32)>,
    segments: Vec<(u32, Vec<u8>)>,
}

impl Program {
    /// Reads a little-endian 32-bit ELF file.
    ///
    /// # Errors
    /// If it is another file or cut short.
    pub fn parse(elf: &[u8]) -> Result<Self, String> {
        let elf = read_elf(elf)?;
        let cut = |error: object::Error| error.to_string();
        let (mut symbols, mut labels, mut segments) = (Vec::new(), Vec::new(), Vec::new());
        for segment in elf.segments() {
            let address = segment.elf_program_header().p_paddr(elf.endian());
            segments.push((address, segment.data().map_err(cut)?.to_vec()));
        }
        for symbol in elf.symbols() {
            let name = symbol.name().map_err(cut)?.to_owned();
            let (value, size) = (symbol.address() as u32, symbol.size() as u32);
            let address = match symbol.kind() {
                SymbolKind::Text => value & !1,
                SymbolKind::Data => value,
                _ => {
                    labels.push((name, value));
                    continue;
                }
            };
            symbols.push(Symbol {
                name,
                address,
                size,
            });
        }
        symbols.sort_by_key(|symbol| symbol.address);
        Ok(Self {
            symbols,
            labels,
            segments,
        })
    }

    /// The symbols whose names hold all parts of a pattern, which stand between stars.
    pub fn matching<'p>(&'p self, pattern: &'p str) -> impl Iterator<Item = &'p Symbol> {
        let fits = |name: &str| pattern.split('*').all(|part| name.contains(part));
        self.symbols.iter().filter(move |symbol| fits(&symbol.name))
    }

    /// The symbol that an address lies in.
    #[must_use]
    pub fn symbol_at(&self, address: u32) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|one| one.address <= address);
        let before = self.symbols[..after].iter().rev().take(4);
        { before }.find(|symbol| symbol.contains(address))
    }

    /// An address of the linker script.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<u32> {
        let label = self.labels.iter().find(|(label, _)| label == name);
        label.map(|(_, value)| *value)
    }

    /// The bytes of a symbol.
    #[must_use]
    pub fn code(&self, symbol: &Symbol) -> &[u8] {
        let mut segments = self.segments.iter();
        let found = segments.find_map(|(start, bytes)| {
            let from = symbol.address.checked_sub(*start)? as usize;
            bytes.get(from..from + symbol.size as usize)
        });
        found.unwrap_or_default()
    }

    /// The even addresses at which a halfword of code or constants has this value.
    #[must_use]
    pub fn places_of(&self, value: u16) -> Vec<u32> {
        let mut places = Vec::new();
        for (start, bytes) in &self.segments {
            for (number, pair) in bytes.chunks_exact(2).enumerate() {
                if pair == value.to_le_bytes() {
                    places.push(start + 2 * number as u32);
                }
            }
        }
        places
    }
}
