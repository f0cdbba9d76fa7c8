//! Oracle of the tests: SVGD on posteriors whose moments are known, by the very
//! code that moves networks.

use super::options::Bandwidth;
use super::particles::{Decay, Density, Particle, Particles};
use super::svgd::Svgd;
use hambo_base::random::Random;

const PARTICLES: usize = 50;
const UPDATES: usize = 1000;

/// −log p / n = (theta − mean)ᵀ precision (theta − mean) / (2 n).
#[derive(Clone)]
struct Gaussian<const D: usize> {
    mean: [f64; D],
    precision: [[f64; D]; D],
    rows: f64,
}

impl<const D: usize> Density for Gaussian<D> {
    fn descend(&mut self, parameters: &[f32], gradient: &mut [f32]) -> f32 {
        let mut loss = 0.0;
        for i in 0..D {
            let slope: f64 = (0..D)
                .map(|j| self.precision[i][j] * (f64::from(parameters[j]) - self.mean[j]))
                .sum::<f64>()
                / self.rows;
            loss += 0.5 * slope * (f64::from(parameters[i]) - self.mean[i]);
            gradient[i] = slope as f32;
        }
        loss as f32
    }
}

/// Bayesian linear regression: log p sums over rows of data, like a network's.
#[derive(Clone)]
struct Regression {
    rows: Vec<([f64; 3], f64)>,
    noise: f64,
}

impl Density for Regression {
    fn descend(&mut self, parameters: &[f32], gradient: &mut [f32]) -> f32 {
        let theta = [0, 1, 2].map(|i| f64::from(parameters[i]));
        let count = self.rows.len() as f64;
        // The prior N(0, I).
        let mut slope = theta.map(|t| t / count);
        let mut loss = theta.iter().map(|t| 0.5 * t * t).sum::<f64>() / count;
        for (x, y) in &self.rows {
            let residual = (0..3).map(|i| x[i] * theta[i]).sum::<f64>() - y;
            let scaled = residual / (self.noise * self.noise * count);
            loss += 0.5 * residual * scaled;
            (0..3).for_each(|i| slope[i] += scaled * x[i]);
        }
        (0..3).for_each(|i| gradient[i] = slope[i] as f32);
        loss as f32
    }
}

/// Mean and covariance of the particles after training.
fn train<const D: usize>(
    density: &(impl Density + Clone),
    rows: usize,
    bandwidth: Option<Bandwidth>,
) -> ([f64; D], [[f64; D]; D]) {
    let mut random = Random::new(7, 1);
    let particles = (0..PARTICLES)
        .map(|_| {
            let start = (0..D).map(|_| random.normal()).collect();
            Particle::new(density.clone(), start)
        })
        .collect();
    let svgd = bandwidth.map(|bandwidth| Svgd::new(bandwidth, rows, PARTICLES, D));
    let mut particles = Particles::new(particles, svgd, Decay::default());
    let rates: Vec<f32> = (0..UPDATES)
        .map(|step| 0.025 * (1.0 + (std::f32::consts::PI * step as f32 / UPDATES as f32).cos()))
        .collect();
    particles.advance(&rates);

    let place = |k: usize, i: usize| f64::from(particles.all[k].parameters[i]);
    let over =
        |value: &dyn Fn(usize) -> f64| (0..PARTICLES).map(value).sum::<f64>() / PARTICLES as f64;
    let mean: [f64; D] = std::array::from_fn(|i| over(&|k| place(k, i)));
    let covariance = std::array::from_fn(|i| {
        std::array::from_fn(|j| over(&|k| (place(k, i) - mean[i]) * (place(k, j) - mean[j])))
    });
    (mean, covariance)
}

/// Within 10 %: the mean in standard deviations, every variance in itself.
fn matches<const D: usize>(
    (mean, covariance): ([f64; D], [[f64; D]; D]),
    (true_mean, true_covariance): ([f64; D], [[f64; D]; D]),
) {
    for i in 0..D {
        let std = true_covariance[i][i].sqrt();
        let off = (mean[i] - true_mean[i]) / std;
        assert!(
            off.abs() < 0.1,
            "mean {i} is off by {off} standard deviations"
        );
        let ratio = covariance[i][i] / true_covariance[i][i];
        assert!(
            (ratio - 1.0).abs() < 0.1,
            "variance {i} is {ratio} of the true one"
        );
        for j in 0..i {
            let correlation = covariance[i][j] / (covariance[i][i] * covariance[j][j]).sqrt();
            let truth =
                true_covariance[i][j] / (true_covariance[i][i] * true_covariance[j][j]).sqrt();
            assert!(
                (correlation - truth).abs() < 0.1,
                "{correlation} for {truth}"
            );
        }
    }
}

/// Without repulsion all particles end in the mode.
fn collapses<const D: usize>(
    (mean, covariance): ([f64; D], [[f64; D]; D]),
    (true_mean, true_covariance): ([f64; D], [[f64; D]; D]),
) {
    for i in 0..D {
        let off = (mean[i] - true_mean[i]) / true_covariance[i][i].sqrt();
        assert!(off.abs() < 0.01, "the mode is missed by {off}");
        let ratio = covariance[i][i] / true_covariance[i][i];
        assert!(
            ratio < 1e-3,
            "variance {i} is still {ratio} of the true one"
        );
    }
}

#[test]
fn correlated_gaussian() {
    let truth = ([1.0, -2.0], [[1.0, 0.8], [0.8, 2.0]]);
    let determinant = 1.0 * 2.0 - 0.8 * 0.8;
    let density = Gaussian {
        mean: truth.0,
        precision: [[2.0, -0.8], [-0.8, 1.0]].map(|row| row.map(|x| x / determinant)),
        rows: 1.0,
    };
    matches(train(&density, 1, Some(Bandwidth::Fixed(10.0))), truth);
    collapses(train(&density, 1, None), truth);
    // Liu and Wang's bandwidth is narrower: more than a tenth of the variance is lost.
    let (_, median) = train::<2>(&density, 1, Some(Bandwidth::Median));
    assert!(median[0][0] > 0.8 && median[1][1] > 1.6, "{median:?}");
}

#[test]
fn density_that_sums_over_rows() {
    // The same density as a sum over 1000 rows: the same particles, though
    // gradients and repulsion are all divided by 1000.
    let truth = ([0.5], [[0.25]]);
    let density = |rows| Gaussian {
        mean: truth.0,
        precision: [[4.0]],
        rows,
    };
    matches(
        train(&density(1000.0), 1000, Some(Bandwidth::Fixed(1.0))),
        truth,
    );
    matches(train(&density(1.0), 1, Some(Bandwidth::Fixed(1.0))), truth);
}

#[test]
fn bayesian_linear_regression() {
    let mut random = Random::new(3, 5);
    let mut normal = || f64::from(random.normal());
    let noise = 0.8;
    let rows: Vec<([f64; 3], f64)> = (0..30)
        .map(|_| {
            let shared = normal();
            let x = [1.0, shared + 0.7 * normal(), 0.5 * shared + normal()];
            (x, 0.7 * x[0] - 1.2 * x[1] + 0.4 * x[2] + noise * normal())
        })
        .collect();
    // Precision I + XᵀX / noise², mean precision⁻¹ Xᵀy / noise².
    let mut precision = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut moment = [0.0; 3];
    for (x, y) in &rows {
        for i in 0..3 {
            moment[i] += x[i] * y / (noise * noise);
            (0..3).for_each(|j| precision[i][j] += x[i] * x[j] / (noise * noise));
        }
    }
    let covariance = inverse(precision);
    let mean = covariance.map(|row| (0..3).map(|j| row[j] * moment[j]).sum());
    let density = Regression { rows, noise };
    let truth = (mean, covariance);
    matches(train(&density, 30, Some(Bandwidth::Fixed(0.2))), truth);
    collapses(train(&density, 30, None), truth);
}

/// Inverse of a symmetric 3 × 3 matrix by cofactors.
fn inverse(m: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let cofactor = |i: usize, j: usize| {
        let (a, b, c, d) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let determinant: f64 = (0..3).map(|j| m[0][j] * cofactor(0, j)).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| cofactor(j, i) / determinant))
}
