//! How much memory a log may ask for.
//!
//! Sizes in a file are claims. A few bytes can claim, or inflate to, any number of rows; numbers
//! from sensors hardly shrink to a tenth. So a file may grow a hundredfold, and a small one to 256
//! MiB, which leaves room for flags that are nearly all 0.

use std::path::{Path, PathBuf};

use crate::error::DataError;

/// What any file may grow to, in bytes.
const FREE: u64 = 256 << 20;
/// What a large file may grow by.
const EXPANSION: u64 = 100;

/// The bytes that a file may still claim.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    file: PathBuf,
    length: u64,
    left: u64,
}

impl Allowance {
    /// For a file of this length.
    pub(super) fn new(file: &Path, length: u64) -> Self {
        Self {
            file: file.to_owned(),
            length,
            left: FREE.max(length.saturating_mul(EXPANSION)),
        }
    }

    /// The file's own length.
    pub(super) fn file_length(&self) -> u64 {
        self.length
    }

    /// Takes the product of these factors, in bytes, and returns it; nothing is allocated before
    /// this.
    pub(super) fn take(&mut self, place: &str, factors: &[u64]) -> Result<usize, DataError> {
        let product = factors
            .iter()
            .try_fold(1_u64, |product, factor| product.checked_mul(*factor));
        let bytes = product.filter(|bytes| *bytes <= self.left);
        let bytes = bytes.and_then(|bytes| Some((bytes, usize::try_from(bytes).ok()?)));
        let Some((claim, bytes)) = bytes else {
            let claim = product.map_or("more than 2^64".to_owned(), |bytes| bytes.to_string());
            let problem = format!("it claims {claim} bytes, far more than such a file can hold");
            let help = "the file is damaged or hostile; write it anew, without compression if its numbers hardly change";
            return Err(DataError::part(&self.file, place, problem, help));
        };
        self.left -= claim;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_may_grow_and_a_claim_may_not_overflow() {
        let mut allowance = Allowance::new(Path::new("f"), 1000);
        assert_eq!(allowance.take("x", &[1 << 20, 128]).unwrap(), 128 << 20);
        assert_eq!(allowance.take("x", &[1 << 20, 128]).unwrap(), 128 << 20);
        assert!(allowance.take("x", &[1]).is_err());
        let error = Allowance::new(Path::new("f"), 1).take("`k`", &[u64::MAX, 8]);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("f, `k`") && error.contains("2^64"),
            "{error}"
        );
        let large = Allowance::new(Path::new("f"), 1 << 30).take("x", &[100 << 30]);
        assert!(large.is_ok());
    }
}
