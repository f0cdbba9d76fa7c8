//! Data of a smooth function with noise, for fits of hyperparameters; the same
//! that benches/gp_reference.py draws.

use std::ops::ControlFlow;

use hambo_base::network::Standardisation;
use hambo_learn::gaussian_process::Progress;

/// The numbers that the script draws, bit by bit.
pub struct Generator(pub u64);

impl Generator {
    /// A number in 0..1.
    pub fn uniform(&mut self) -> f64 {
        let product = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = product.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 * 2.0_f64.powi(-53)
    }

    /// A number that is nearly normal.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// The script's function.
#[must_use]
pub fn function(x: &[f64]) -> f64 {
    let used = if x.len() >= 4 { x.len() - 1 } else { x.len() };
    let waves = x.iter().take(used).enumerate().map(|(d, x)| {
        let d = d as f64;
        ((2.0 - 0.2 * d) * x + 0.5 * d).sin() / (1.0 + d)
    });
    waves.sum::<f64>() + 0.25 * x[0] * x[used - 1]
}

/// Does not stop a search.
pub fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Units in which nothing is scaled.
#[must_use]
pub fn physical(inputs: usize, outputs: usize) -> Standardisation {
    Standardisation {
        input_mean: vec![0.0; inputs],
        input_scale: vec![1.0; inputs],
        output_mean: vec![0.0; outputs],
        output_scale: vec![1.0; outputs],
    }
}
