//! Reads, writes and erasures in pieces.

use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;
use sha2::{Digest, Sha256};

use super::error::SlotError;

/// Bytes that are read or written at once. Every sector is a multiple of it.
pub const PIECE: usize = 256;

/// What a flash memory has where nothing was written.
pub const BLANK: u8 = 0xFF;

/// Reads whole pieces; `bytes` is at most one.
pub(super) fn read<F: NorFlash>(
    flash: &mut F,
    offset: u32,
    bytes: &mut [u8],
) -> Result<(), SlotError<F::Error>> {
    let mut piece = [BLANK; PIECE];
    let whole = piece.get_mut(..rounded(bytes.len(), F::READ_SIZE));
    let whole = whole.ok_or(SlotError::Offset)?;
    flash.read(offset, whole)?;
    for (to, byte) in bytes.iter_mut().zip(whole) {
        *to = *byte;
    }
    Ok(())
}

/// Writes at most a piece into what is blank, and compares what can be read back.
pub(super) fn write<F: NorFlash>(
    flash: &mut F,
    offset: u32,
    bytes: &[u8],
) -> Result<(), SlotError<F::Error>> {
    let mut piece = [BLANK; PIECE];
    let whole = piece.get_mut(..rounded(bytes.len(), F::WRITE_SIZE));
    let whole = whole.ok_or(SlotError::Offset)?;
    for (to, byte) in whole.iter_mut().zip(bytes) {
        *to = *byte;
    }
    flash.write(offset, whole)?;
    if same(flash, offset, bytes)? {
        Ok(())
    } else {
        Err(SlotError::Worn)
    }
}

/// Whether flash has these bytes, at most a piece.
pub(super) fn same<F: NorFlash>(
    flash: &mut F,
    offset: u32,
    bytes: &[u8],
) -> Result<bool, SlotError<F::Error>> {
    let mut piece = [BLANK; PIECE];
    let found = piece.get_mut(..bytes.len()).ok_or(SlotError::Offset)?;
    read(flash, offset, found)?;
    Ok(*found == *bytes)
}

/// Whether a range is blank.
pub(super) fn blank<F: NorFlash>(
    flash: &mut F,
    range: Range<u32>,
) -> Result<bool, SlotError<F::Error>> {
    for offset in range.clone().step_by(PIECE) {
        let mut piece = [BLANK; PIECE];
        let left = range.end.saturating_sub(offset) as usize;
        let bytes = piece.get_mut(..left.min(PIECE)).ok_or(SlotError::Offset)?;
        read(flash, offset, bytes)?;
        if bytes.iter().any(|byte| *byte != BLANK) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// SHA-256 of a range.
pub(super) fn hash<F: NorFlash>(
    flash: &mut F,
    range: Range<u32>,
) -> Result<[u8; 32], SlotError<F::Error>> {
    let mut hash = Sha256::new();
    for offset in range.clone().step_by(PIECE) {
        let mut piece = [BLANK; PIECE];
        let left = range.end.saturating_sub(offset) as usize;
        let bytes = piece.get_mut(..left.min(PIECE)).ok_or(SlotError::Offset)?;
        read(flash, offset, bytes)?;
        hash.update(&*bytes);
    }
    Ok(hash.finalize().into())
}

/// The next multiple of a size that a flash memory reads or writes in.
fn rounded(length: usize, size: usize) -> usize {
    length.checked_next_multiple_of(size).unwrap_or(usize::MAX)
}
