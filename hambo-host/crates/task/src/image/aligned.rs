//! Bytes that start on a multiple of 16, as parts must.

use std::io;
use std::path::Path;

/// A buffer of bytes, aligned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlignedBytes {
    blocks: Vec<u128>,
    length: usize,
}

const BLOCK: usize = size_of::<u128>();

impl AlignedBytes {
    /// An aligned copy.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let mut aligned = Self {
            blocks: vec![0; bytes.len().div_ceil(BLOCK)],
            length: bytes.len(),
        };
        let (start, _) =
            bytemuck::cast_slice_mut::<u128, u8>(&mut aligned.blocks).split_at_mut(bytes.len());
        start.copy_from_slice(bytes);
        aligned
    }

    /// Reads a file. Only plain ones: a model may be large, and a device or a pipe
    /// need not end.
    ///
    /// # Errors
    /// If it cannot be read; the message names it.
    pub fn read(path: &Path) -> io::Result<Self> {
        let plain = std::fs::metadata(path).and_then(|metadata| {
            let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "this is not a file");
            metadata.is_file().then_some(()).ok_or_else(no_file)
        });
        match plain.and_then(|()| std::fs::read(path)) {
            Ok(bytes) => Ok(Self::new(&bytes)),
            Err(error) => Err(io::Error::new(
                error.kind(),
                format!(
                    "cannot read {}: {error}\nhelp: check the path and its permissions",
                    path.display()
                ),
            )),
        }
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let (bytes, _) = bytemuck::cast_slice::<u128, u8>(&self.blocks).split_at(self.length);
        bytes
    }
}
