//! Writing ZIP archives as `numpy.savez` does: ZIP64 sizes throughout, so that
//! no length needs a second form.

use std::io::{self, Seek, SeekFrom, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::zip_file::{CENTRAL, END, END_64, LOCAL, LOCATOR_64};

/// An archive under way.
pub(super) struct ZipWriter<W> {
    out: W,
    written: u64,
    directory: Vec<u8>,
    count: u16,
    compress: bool,
}

/// Sensor data gain little from more.
const LEVEL: u32 = 4;
/// The moment that an entry is dated with: the same bytes for the same log.
const DATE: u32 = 0x0021_0000;

impl<W: Write + Seek> ZipWriter<W> {
    pub(super) fn new(out: W, compress: bool) -> Self {
        Self {
            out,
            written: 0,
            directory: Vec::new(),
            count: 0,
            compress,
        }
    }

    /// Adds an entry; `fill` writes its bytes.
    pub(super) fn entry(
        &mut self,
        name: &str,
        fill: impl Fn(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let offset = self.written;
        // Sizes are known only afterwards, so the header is written twice.
        let zeros = vec![0; self.local(name, 0, 0, 0).len()];
        self.out.write_all(&zeros)?;
        let (crc, stored, size) = if self.compress {
            let counted = Checked::new(&mut self.out);
            let mut encoder = DeflateEncoder::new(counted, Compression::new(LEVEL));
            let mut checked = Checked::new(&mut encoder);
            fill(&mut checked)?;
            let (crc, size) = (checked.crc.sum(), checked.count);
            (crc, encoder.finish()?.count, size)
        } else {
            let mut checked = Checked::new(&mut self.out);
            fill(&mut checked)?;
            (checked.crc.sum(), checked.count, checked.count)
        };
        self.close(name, offset, crc, stored, size)
    }

    fn method(&self) -> u16 {
        if self.compress { 8 } else { 0 }
    }

    /// ZIP64 sizes always, as NumPy does.
    fn local(&self, name: &str, crc: u32, stored: u64, size: u64) -> Vec<u8> {
        let mut header = Vec::new();
        header.extend(LOCAL.to_le_bytes());
        header.extend(45_u16.to_le_bytes());
        header.extend(0_u16.to_le_bytes());
        header.extend(self.method().to_le_bytes());
        header.extend(DATE.to_le_bytes());
        header.extend(crc.to_le_bytes());
        header.extend([0xff; 8]);
        header.extend((name.len() as u16).to_le_bytes());
        header.extend(20_u16.to_le_bytes());
        header.extend(name.as_bytes());
        header.extend(1_u16.to_le_bytes());
        header.extend(16_u16.to_le_bytes());
        header.extend(size.to_le_bytes());
        header.extend(stored.to_le_bytes());
        header
    }

    fn close(
        &mut self,
        name: &str,
        offset: u64,
        crc: u32,
        stored: u64,
        size: u64,
    ) -> io::Result<()> {
        let header = self.local(name, crc, stored, size);
        self.out.seek(SeekFrom::Start(offset))?;
        self.out.write_all(&header)?;
        self.written = offset + header.len() as u64 + stored;
        self.out.seek(SeekFrom::Start(self.written))?;
        let method = self.method();
        let directory = &mut self.directory;
        directory.extend(CENTRAL.to_le_bytes());
        directory.extend(45_u16.to_le_bytes());
        directory.extend(45_u16.to_le_bytes());
        directory.extend(0_u16.to_le_bytes());
        directory.extend(method.to_le_bytes());
        directory.extend(DATE.to_le_bytes());
        directory.extend(crc.to_le_bytes());
        directory.extend([0xff; 8]);
        directory.extend((name.len() as u16).to_le_bytes());
        directory.extend(28_u16.to_le_bytes());
        directory.extend([0; 10]);
        directory.extend([0xff; 4]);
        directory.extend(name.as_bytes());
        directory.extend(1_u16.to_le_bytes());
        directory.extend(24_u16.to_le_bytes());
        directory.extend(size.to_le_bytes());
        directory.extend(stored.to_le_bytes());
        directory.extend(offset.to_le_bytes());
        self.count += 1;
        Ok(())
    }

    /// Writes the directory.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let (offset, size) = (self.written, self.directory.len() as u64);
        let count = u64::from(self.count);
        let mut end = self.directory;
        end.extend(END_64.to_le_bytes());
        end.extend(44_u64.to_le_bytes());
        end.extend(45_u16.to_le_bytes());
        end.extend(45_u16.to_le_bytes());
        end.extend([0; 8]);
        for number in [count, count, size, offset] {
            end.extend(number.to_le_bytes());
        }
        end.extend(LOCATOR_64.to_le_bytes());
        end.extend(0_u32.to_le_bytes());
        end.extend((offset + size).to_le_bytes());
        end.extend(1_u32.to_le_bytes());
        end.extend(END.to_le_bytes());
        end.extend([0; 4]);
        end.extend(self.count.to_le_bytes());
        end.extend(self.count.to_le_bytes());
        end.extend([0xff; 8]);
        end.extend([0; 2]);
        self.out.write_all(&end)
    }
}

/// Counts and sums up what passes.
struct Checked<W> {
    out: W,
    crc: Crc,
    count: u64,
}

impl<W> Checked<W> {
    fn new(out: W) -> Self {
        Self {
            out,
            crc: Crc::new(),
            count: 0,
        }
    }
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.crc.update(bytes.get(..count).unwrap_or_default());
        self.count += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
