//! Checks images and prints bound and digest as bits, one line each: the same lines must come
//! out on every processor.
//!
//! `cargo run --release -p hambo-core --features host-simd --example bits -- IMAGE...`

use std::error::Error;
use std::path::Path;

use hambo_core::check::{Check, Progress};
use hambo_core::image::Image;

/// Trajectories side by side, as on a host.
const LANES: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    for file in std::env::args_os().skip(1) {
        let line = bits(file.as_ref())?;
        let name = Path::new(&file).file_name().unwrap_or_default();
        println!("{line} {}", name.display());
    }
    Ok(())
}

fn bits(file: &Path) -> Result<String, Box<dyn Error>> {
    let bytes = std::fs::read(file)?;
    // Images lie on multiples of 16 bytes.
    let mut blocks = vec![0_u128; bytes.len().div_ceil(16)];
    let aligned: &mut [u8] = bytemuck::cast_slice_mut(&mut blocks);
    let aligned = aligned.get_mut(..bytes.len()).unwrap_or_default();
    aligned.copy_from_slice(&bytes);
    let image = Image::parse(aligned).map_err(|error| format!("{error:?}"))?;
    let needed = Check::<LANES>::rows_needed(&image).map_err(|error| format!("{error:?}"))?;
    let mut rows = vec![[0.0; LANES]; needed];
    let mut check = Check::new(&image, &mut rows).map_err(|error| format!("{error:?}"))?;
    loop {
        if let Progress::Finished(outcome) = check.advance(u32::MAX) {
            let (bound, digest) = (outcome.bound.to_bits(), outcome.digest());
            return Ok(format!("{bound:08x} {digest:08x}"));
        }
    }
}
