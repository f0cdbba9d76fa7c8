//! Stein variational gradient descent: the paper's update of the particles.
//!
//! With the kernel k(a, b) = exp(−‖a − b‖² / (2 l)) particle i moves along
//!
//! phi_i = (1 / K) Σ_j [k(theta_j, theta_i) ∇ log p(theta_j) + k(theta_j, theta_i) (theta_i − theta_j) / l].
//!
//! The first term leads to high density, the second away from the others. All
//! is divided by n, the number of rows that log p sums over: that changes
//! nothing under Adam and keeps gradients near 1.
//!
//! Networks of the paper's size start ‖theta − theta′‖² ≈ 700 apart and part
//! further, so with l = 10 every k between two of them is below 10⁻¹⁵. Then SVGD
//! is a deep ensemble with a prior. `Bandwidth::Median` keeps them in touch.

use rayon::prelude::*;

use super::options::Bandwidth;
use hambo_base::network::vectors::squared_distance;

/// Parameters worked on at a time: all particles' fit a core's cache.
const BLOCK: usize = 2048;
/// Kernels below this count as 0: what they add is lost in rounding.
const NEGLIGIBLE: f64 = 1e-12;

/// The kernel and its working memory.
pub(super) struct Svgd {
    bandwidth: Bandwidth,
    /// n.
    rows: f32,
    /// ‖theta_i − theta_j‖² of each pair i > j, block by block.
    parts: Vec<f32>,
    /// The same over all blocks.
    distances: Vec<f64>,
    /// The same in order of size.
    sorted: Vec<f64>,
    /// k(theta_i, theta_j) / K, K × K.
    kernel: Vec<f32>,
    /// −phi_i / n.
    directions: Vec<Vec<f32>>,
}

impl Svgd {
    /// For these numbers of particles and parameters. Gradients will be those of −log p / `rows`.
    pub(super) fn new(
        bandwidth: Bandwidth,
        rows: usize,
        particles: usize,
        parameters: usize,
    ) -> Self {
        let pairs = particles * particles.saturating_sub(1) / 2;
        Self {
            bandwidth,
            rows: rows as f32,
            parts: vec![0.0; pairs * parameters.div_ceil(BLOCK)],
            distances: vec![0.0; pairs],
            sorted: vec![0.0; pairs],
            kernel: vec![0.0; particles * particles],
            directions: vec![vec![0.0; parameters]; particles],
        }
    }

    /// −phi_i / n for every particle i, from the gradients of −log p / n.
    pub(super) fn directions(&mut self, places: &[&[f32]], gradients: &[&[f32]]) -> &[Vec<f32>] {
        self.measure(places);
        let bandwidth = self.bandwidth();
        self.fill_kernel(places.len(), bandwidth);
        let push = (1.0 / (bandwidth * f64::from(self.rows))) as f32;
        let rows_of_kernel = self.kernel.par_chunks_exact(places.len().max(1));
        let particles = self.directions.par_iter_mut().zip(rows_of_kernel);
        particles.enumerate().for_each(|(i, (direction, kernel))| {
            let blocks = direction.par_chunks_mut(BLOCK).enumerate();
            blocks.for_each(|(block, direction)| {
                let range = block * BLOCK..block * BLOCK + direction.len();
                direction.fill(0.0);
                for (j, &k) in kernel.iter().enumerate() {
                    let gradient = &gradients[j][range.clone()];
                    if i == j {
                        let sums = direction.iter_mut().zip(gradient);
                        sums.for_each(|(sum, g)| *sum += k * g);
                    } else if k > 0.0 {
                        let apart = places[i][range.clone()]
                            .iter()
                            .zip(&places[j][range.clone()]);
                        let sums = direction.iter_mut().zip(gradient).zip(apart);
                        sums.for_each(|((sum, g), (here, there))| {
                            *sum += k * (g - push * (here - there));
                        });
                    }
                }
            });
        });
        &self.directions
    }

    /// All squared distances: in f32 within a block, in f64 over the blocks in order.
    fn measure(&mut self, places: &[&[f32]]) {
        let pairs = self.distances.len();
        if pairs == 0 {
            return;
        }
        let blocks = self.parts.par_chunks_exact_mut(pairs).enumerate();
        blocks.for_each(|(block, parts)| {
            let range = |place: &[f32]| block * BLOCK..place.len().min((block + 1) * BLOCK);
            let mut parts = parts.iter_mut();
            for (i, here) in places.iter().enumerate() {
                for (there, part) in places[..i].iter().zip(&mut parts) {
                    *part = squared_distance(&here[range(here)], &there[range(there)]);
                }
            }
        });
        self.distances.fill(0.0);
        for parts in self.parts.chunks_exact(pairs) {
            let sums = self.distances.iter_mut().zip(parts);
            sums.for_each(|(sum, part)| *sum += f64::from(*part));
        }
    }

    /// l.
    fn bandwidth(&mut self) -> f64 {
        match self.bandwidth {
            Bandwidth::Fixed(bandwidth) => f64::from(bandwidth),
            Bandwidth::Median => {
                self.sorted.copy_from_slice(&self.distances);
                self.sorted.sort_unstable_by(f64::total_cmp);
                let median = match self.sorted.len() {
                    0 => 1.0,
                    pairs => 0.5 * (self.sorted[(pairs - 1) / 2] + self.sorted[pairs / 2]),
                };
                let particles = self.directions.len() as f64;
                // Particles in one place have no scale of their own.
                (median / (2.0 * (particles + 1.0).ln())).max(f64::from(f32::MIN_POSITIVE))
            }
        }
    }

    fn fill_kernel(&mut self, particles: usize, bandwidth: f64) {
        let mut pair = 0;
        for i in 0..particles {
            self.kernel[i * particles + i] = 1.0 / particles as f32;
            for j in 0..i {
                let k = (-self.distances[pair] / (2.0 * bandwidth)).exp();
                let k = if k < NEGLIGIBLE { 0.0 } else { k } / particles as f64;
                self.kernel[i * particles + j] = k as f32;
                self.kernel[j * particles + i] = k as f32;
                pair += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directions(bandwidth: Bandwidth, places: &[&[f32]], gradients: &[&[f32]]) -> Vec<Vec<f32>> {
        let mut svgd = Svgd::new(bandwidth, 1, places.len(), places[0].len());
        svgd.directions(places, gradients).to_vec()
    }

    #[test]
    fn two_particles_by_hand() {
        // k = exp(−2² / (2 · 2)) = exp(−1); the direction is −phi.
        let (k, l) = ((-1f32).exp(), 2.0);
        let direction = directions(Bandwidth::Fixed(l), &[&[0.0], &[2.0]], &[&[3.0], &[-5.0]]);
        let left = 0.5 * (3.0 + k * (-5.0 - (0.0 - 2.0) / l));
        let right = 0.5 * (-5.0 + k * (3.0 - (2.0 - 0.0) / l));
        assert!((direction[0][0] - left).abs() < 1e-6);
        assert!((direction[1][0] - right).abs() < 1e-6);
    }

    #[test]
    fn repulsion_pushes_apart() {
        // Without a density, a step against the direction widens the gap.
        let places: [&[f32]; 2] = [&[0.3, 0.0], &[-0.1, 0.2]];
        let flat: [&[f32]; 2] = [&[0.0; 2]; 2];
        for bandwidth in [Bandwidth::Fixed(1.0), Bandwidth::Median] {
            let direction = directions(bandwidth, &places, &flat);
            let gap = |step: f32| -> f32 {
                let at = |i: usize, p: usize| places[i][p] - step * direction[i][p];
                (0..2).map(|p| (at(0, p) - at(1, p)).powi(2)).sum()
            };
            assert!(gap(0.1) > gap(0.0), "{bandwidth:?}");
        }
    }

    #[test]
    fn median_follows_the_particles() {
        // Squared distances 1, 4 and 9: l = 4 / (2 ln 4).
        let mut svgd = Svgd::new(Bandwidth::Median, 1, 3, 1);
        svgd.measure(&[&[0.0], &[1.0], &[3.0]]);
        assert!((svgd.bandwidth() - 4.0 / (2.0 * 4f64.ln())).abs() < 1e-9);
        // In one place nothing pushes, and nothing is divided by 0.
        let direction = directions(Bandwidth::Median, &[&[1.0][..]; 3], &[&[6.0][..]; 3]);
        assert!(
            direction.iter().all(|d| (d[0] - 6.0).abs() < 1e-5),
            "{direction:?}"
        );
    }

    #[test]
    fn far_particles_move_alone() {
        let direction = directions(
            Bandwidth::Fixed(10.0),
            &[&[0.0; 5000], &[1.0; 5000]],
            &[&[4.0; 5000], &[-2.0; 5000]],
        );
        assert_eq!(direction, [vec![2.0; 5000], vec![-1.0; 5000]]);
    }
}
