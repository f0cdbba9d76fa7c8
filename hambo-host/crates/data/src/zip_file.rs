//! Reading ZIP archives, as far as `numpy.savez` uses them: stored and deflated
//! entries, with ZIP64 sizes. By hand, because every size has to be held
//! against the file before it is believed.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

pub(super) const LOCAL: u32 = 0x0403_4b50;
pub(super) const CENTRAL: u32 = 0x0201_4b50;
pub(super) const END: u32 = 0x0605_4b50;
pub(super) const END_64: u32 = 0x0606_4b50;
pub(super) const LOCATOR_64: u32 = 0x0706_4b50;
/// The end record with the longest comment.
const LONGEST_END: u64 = 22 + 65_535;
/// Enough for a hundred thousand entries.
const LONGEST_DIRECTORY: u64 = 16 << 20;

/// One entry of the directory; nothing of it is believed yet.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    name: String,
    pub(super) size: u64,
    method: u16,
    encrypted: bool,
    crc: u32,
    stored_size: u64,
    offset: u64,
}

fn broken<T>(text: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}

/// Little-endian fields one after the other; 0 beyond the end is caught by
/// the lengths that are checked before.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> io::Result<&'a [u8]> {
        match self.0.split_at_checked(count) {
            Some((bytes, rest)) => {
                self.0 = rest;
                Ok(bytes)
            }
            None => broken("the archive's directory is cut short"),
        }
    }

    fn number(&mut self, size: usize) -> io::Result<u64> {
        let bytes = self.bytes(size)?.iter().rev();
        Ok(bytes.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

fn read_at(file: &mut File, offset: u64, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count as usize];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The directory of an archive.
pub(super) fn entries(file: &mut File) -> io::Result<Vec<Entry>> {
    let length = file.metadata()?.len();
    let tail_length = length.min(LONGEST_END);
    let tail = read_at(file, length - tail_length, tail_length)?;
    let places = 0..tail.len().saturating_sub(21);
    let end = places.rev().find(|place| {
        let bytes = tail.get(*place..).unwrap_or_default();
        bytes.starts_with(&END.to_le_bytes())
    });
    let Some(end) = end else {
        return broken("the archive has no directory at its end: the file is cut short");
    };
    let mut fields = Fields(tail.get(end..).unwrap_or_default());
    fields.bytes(10)?;
    let mut count = fields.number(2)?;
    let mut size = fields.number(4)?;
    let mut offset = fields.number(4)?;
    let end = length - tail_length + end as u64;
    if (count == 0xffff || size == 0xffff_ffff || offset == 0xffff_ffff) && end >= 20 {
        let locator = read_at(file, end - 20, 20)?;
        let mut fields = Fields(&locator);
        if fields.number(4)? == u64::from(LOCATOR_64) {
            fields.bytes(4)?;
            let place = fields.number(8)?;
            if place.checked_add(56).is_none_or(|last| last > length) {
                return broken("the archive's ZIP64 record lies outside the file");
            }
            let record = read_at(file, place, 56)?;
            let mut fields = Fields(&record);
            if fields.number(4)? != u64::from(END_64) {
                return broken("the archive's ZIP64 record is damaged");
            }
            fields.bytes(28)?;
            count = fields.number(8)?;
            size = fields.number(8)?;
            offset = fields.number(8)?;
        }
    }
    let inside = offset.checked_add(size).is_some_and(|last| last <= length);
    if !inside || size > LONGEST_DIRECTORY || count > size / 46 {
        return broken("the archive's directory does not lie in the file");
    }
    let directory = read_at(file, offset, size)?;
    let mut fields = Fields(&directory);
    (0..count).map(|_| entry(&mut fields)).collect()
}

fn entry(fields: &mut Fields<'_>) -> io::Result<Entry> {
    if fields.number(4)? != u64::from(CENTRAL) {
        return broken("the archive's directory is damaged");
    }
    fields.bytes(4)?;
    let flags = fields.number(2)?;
    let method = fields.number(2)? as u16;
    fields.bytes(4)?;
    let crc = fields.number(4)? as u32;
    let mut stored_size = fields.number(4)?;
    let mut size = fields.number(4)?;
    let lengths = [fields.number(2)?, fields.number(2)?, fields.number(2)?];
    let [name, extra, comment] = lengths.map(|length| length as usize);
    fields.bytes(8)?;
    let mut offset = fields.number(4)?;
    let name = String::from_utf8_lossy(fields.bytes(name)?).into_owned();
    let mut extras = Fields(fields.bytes(extra)?);
    fields.bytes(comment)?;
    while extras.0.len() >= 4 {
        let kind = extras.number(2)?;
        let length = extras.number(2)? as usize;
        let mut extra = Fields(extras.bytes(length)?);
        if kind == 1 {
            for field in [&mut size, &mut stored_size, &mut offset] {
                if *field == 0xffff_ffff {
                    *field = extra.number(8)?;
                }
            }
        }
    }
    Ok(Entry {
        name,
        size,
        method,
        encrypted: flags & 1 == 1,
        crc,
        stored_size,
        offset,
    })
}

/// The bytes of an entry; its checksum is compared at the end.
pub(super) struct EntryReader {
    source: Stream,
    crc: Crc,
    expected: u32,
    left: u64,
}

enum Stream {
    Stored(BufReader<io::Take<File>>),
    Deflated(Box<DeflateDecoder<BufReader<io::Take<File>>>>),
}

impl Entry {
    /// Its name without `.npy`.
    pub(super) fn key(&self) -> &str {
        self.name.strip_suffix(".npy").unwrap_or(&self.name)
    }

    /// Whether its bytes are in the file as they are.
    pub(super) fn is_stored(&self) -> bool {
        self.method == 0
    }

    /// Opens it; not a byte more than its size is ever inflated.
    pub(super) fn open(&self, mut file: File) -> io::Result<EntryReader> {
        let length = file.metadata()?.len();
        if self.encrypted {
            return broken("it is encrypted");
        }
        let header_fits = self.offset.checked_add(30).is_some_and(|end| end <= length);
        if !header_fits {
            return broken("its place lies outside the file");
        }
        let header = read_at(&mut file, self.offset, 30)?;
        let mut fields = Fields(&header);
        if fields.number(4)? != u64::from(LOCAL) {
            return broken("its header is damaged");
        }
        fields.bytes(22)?;
        let skip = fields.number(2)? + fields.number(2)?;
        let start = self.offset + 30 + skip;
        if start
            .checked_add(self.stored_size)
            .is_none_or(|end| end > length)
        {
            return broken("its bytes lie outside the file");
        }
        file.seek(SeekFrom::Start(start))?;
        let source = BufReader::with_capacity(1 << 16, file.take(self.stored_size));
        let source = match self.method {
            0 => Stream::Stored(source),
            8 => Stream::Deflated(Box::new(DeflateDecoder::new(source))),
            other => return broken(&format!("its compression, number {other}, is not known")),
        };
        Ok(EntryReader {
            source,
            crc: Crc::new(),
            expected: self.crc,
            left: self.size,
        })
    }
}

impl Read for EntryReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let (buffer, _) = buffer.split_at_mut(most);
        let count = match &mut self.source {
            Stream::Stored(source) => source.read(buffer)?,
            Stream::Deflated(source) => source.read(buffer)?,
        };
        self.crc.update(buffer.get(..count).unwrap_or_default());
        self.left -= count as u64;
        if self.left == 0 && count > 0 && self.crc.sum() != self.expected {
            return broken("its checksum is wrong: the file is damaged");
        }
        Ok(count)
    }
}
