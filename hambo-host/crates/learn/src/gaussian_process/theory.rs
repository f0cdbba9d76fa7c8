//! The constant C_n of the paper's theorem with all that it is made of
//! (information gain, norm, beta, Lipschitz constants), and the assumptions
//! that they need.
//!
//! Gains, norms and betas belong to standardised units; Lipschitz constants of
//! the dynamics and C_n to physical ones.

use std::fmt;

use hambo_core::model::Kernel;
use serde::{Deserialize, Serialize};

use super::beta::{NormBound, beta};
use super::error::GaussianProcessError;
use super::information_gain::gamma_growth;
use super::posterior::GaussianProcessFit;

/// What the numbers of a [`Theory`] rest on.
pub const ASSUMPTIONS: [&str; 7] = [
    "each standardised state difference is a function of the kernel's space with norm at most B; an estimated B is no bound",
    "kernel and hyperparameters are right, though they were estimated from the same data",
    "noise is independent from row to row, Gaussian or lighter, with at most the estimated variance",
    "which rows were kept does not depend on their noise",
    "for C_n: the reward depends on (s, a) and is Lipschitz with the given constant",
    "for C_n: the policy's action is Lipschitz in the state with the given constant (Wasserstein-1 if it is random)",
    "for C_n: the adversary's search found the true minimum",
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputTheory {
    /// The kernel's shape.
    pub kernel: Kernel,
    /// ½ log det(1 + K / noise), in nats.
    pub information_gain: f64,
    /// √(alphaᵀ K alpha), standardised.
    pub mean_norm: f64,
    /// B, standardised.
    pub norm_bound: f64,
    pub beta: f64,
    /// L_k, standardised.
    pub kernel_lipschitz: f64,
    /// L_k for inputs and output in physical units.
    pub physical_kernel_lipschitz: f64,
}

/// How smooth the rest of the system is, in physical units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothness {
    /// L_r of the reward in (s, a).
    pub reward: f64,
    /// L_π of the policy in s.
    pub policy: f64,
    /// T.
    pub horizon: usize,
}

/// What theory says about a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Theory {
    /// The set fails with at most this probability.
    pub delta: f64,
    /// n.
    pub points: usize,
    /// Whether B is an estimate.
    pub norm_is_estimated: bool,
    /// One for each output.
    pub outputs: Vec<OutputTheory>,
    /// L_f of s′ = s + Δ(s, a) in physical units: 1 + √Σ_j (B_j L_k,j)².
    pub dynamics_lipschitz: f64,
    /// L_σ of the vector of standard deviations in physical units: √Σ_j L_k,j².
    pub std_lipschitz: f64,
}

impl Theory {
    /// Of a posterior.
    ///
    /// # Errors
    /// If `delta` is not between 0 and 1, or there is not one norm, finite and
    /// not negative, for each output.
    ///
    /// ```
    /// use hambo_learn::gaussian_process::{
    ///     GaussianProcessFit, Hyperparameters, Kernel, NORM_FACTOR, NormBound, Observations,
    ///     Smoothness, Theory,
    /// };
    /// use hambo_base::{Held, network::Standardisation};
    ///
    /// let units = Standardisation {
    ///     input_mean: vec![0.0], input_scale: vec![1.0],
    ///     output_mean: vec![0.0], output_scale: vec![1.0],
    /// };
    /// let data = Observations {
    ///     inputs: &[0.0, 1.0], input_columns: 1,
    ///     targets: &[0.0, 0.5], target_columns: 1, held: Held::NONE,
    /// };
    /// let kernels = [Hyperparameters {
    ///     kernel: Kernel::Rbf, signal_variance: 1.0, constant_variance: 0.0,
    ///     lengthscales: vec![1.0], noise_variance: 0.01,
    /// }];
    /// let fit = GaussianProcessFit::new(&data, &units, &kernels)?;
    /// let norm = NormBound::Estimated { factor: NORM_FACTOR };
    /// let theory = Theory::new(&fit, &norm, 0.05)?;
    /// println!("{theory}");
    /// let smoothness = Smoothness { reward: 1.0, policy: 0.5, horizon: 20 };
    /// assert!(theory.ln_constant(&smoothness) > 0.0);
    /// # Ok::<(), hambo_learn::gaussian_process::GaussianProcessError>(())
    /// ```
    pub fn new(
        fit: &GaussianProcessFit,
        norm: &NormBound,
        delta: f64,
    ) -> Result<Self, GaussianProcessError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(GaussianProcessError::OutOfRange {
                name: "delta",
                value: delta,
                wanted: "give a probability between 0 and 1",
            });
        }
        let count = fit.outputs.len();
        let norms: Vec<f64> = match norm {
            NormBound::Given(norms) => norms.clone(),
            NormBound::Estimated { factor } => {
                let outputs = fit.outputs.iter();
                outputs.map(|output| factor * output.mean_norm()).collect()
            }
        };
        if norms.len() != count {
            return Err(GaussianProcessError::Mismatch {
                table: "norm bounds",
                length: norms.len(),
                rows: 1,
                columns: count,
            });
        }
        if let Some(value) = norms.iter().find(|b| !(**b >= 0.0 && b.is_finite())) {
            return Err(GaussianProcessError::OutOfRange {
                name: "a norm bound",
                value: *value,
                wanted: "give a finite number that is not negative",
            });
        }
        let units = &fit.standardisation;
        let outputs = fit.outputs.iter().zip(&norms).zip(&units.output_scale);
        let outputs = outputs.map(|((output, norm_bound), output_scale)| {
            let hyperparameters = &output.hyperparameters;
            let physical = hyperparameters.lipschitz_in(|d| {
                let scale = units.input_scale.get(d).copied();
                f64::from(scale.unwrap_or(1.0))
            });
            OutputTheory {
                kernel: hyperparameters.kernel,
                information_gain: output.information_gain(),
                mean_norm: output.mean_norm(),
                norm_bound: *norm_bound,
                beta: beta(*norm_bound, output.information_gain(), count, delta),
                kernel_lipschitz: hyperparameters.lipschitz(),
                physical_kernel_lipschitz: f64::from(*output_scale) * physical,
            }
        });
        let outputs: Vec<OutputTheory> = outputs.collect();
        let length = |term: fn(&OutputTheory) -> f64| {
            let squares = outputs.iter().map(|output| term(output).powi(2));
            squares.sum::<f64>().sqrt()
        };
        Ok(Self {
            delta,
            points: fit.rows(),
            norm_is_estimated: matches!(norm, NormBound::Estimated { .. }),
            dynamics_lipschitz: 1.0 + length(|o| o.norm_bound * o.physical_kernel_lipschitz),
            std_lipschitz: length(|o| o.physical_kernel_lipschitz),
            outputs,
        })
    }

    /// The largest beta_j, which the paper's theorem takes for all outputs.
    #[must_use]
    pub fn largest_beta(&self) -> f64 {
        self.outputs.iter().map(|o| o.beta).fold(0.0, f64::max)
    }

    /// ln C_n of J − J̃ ≤ C_n · E‖sigma_n(s, a)‖, in physical units, with
    ///
    /// C_n = L̄_r (1 + √ds) beta T² (1 + L̄_f + (1 + √ds) beta L̄_σ)^(T − 1)
    ///
    /// and L̄ = L (1 + L_π). The logarithm, since C_n grows exponentially with
    /// the horizon.
    #[must_use]
    pub fn ln_constant(&self, smoothness: &Smoothness) -> f64 {
        let width = (1.0 + (self.outputs.len() as f64).sqrt()) * self.largest_beta();
        let horizon = smoothness.horizon as f64;
        let through_policy = 1.0 + smoothness.policy;
        let growth = 1.0 + through_policy * (self.dynamics_lipschitz + width * self.std_lipschitz);
        (smoothness.reward * through_policy * width).ln()
            + 2.0 * horizon.ln()
            + (horizon - 1.0) * growth.ln()
    }

    /// The numbers for people: one row each.
    #[must_use]
    pub fn rows(&self, smoothness: Option<&Smoothness>) -> Vec<TheoryRow> {
        let source = if self.norm_is_estimated {
            "estimate"
        } else {
            "given"
        };
        let mut rows = Vec::new();
        let mut row = |name: String, value: String, unit: &'static str| {
            rows.push(TheoryRow { name, value, unit });
        };
        row("points n".into(), self.points.to_string(), "rows");
        row("delta".into(), self.delta.to_string(), "probability");
        for (j, output) in self.outputs.iter().enumerate() {
            let gain = format!("{:.3}", output.information_gain);
            row(format!("information gain g_{j}"), gain, "nats");
            let norm = format!("{:.3}", output.norm_bound);
            row(format!("norm bound B_{j} ({source})"), norm, "standardised");
            let beta = format!("{:.3}", output.beta);
            row(format!("beta_{j}"), beta, "standard deviations");
            let kernel = format!("{:.4}", output.kernel_lipschitz);
            row(format!("kernel Lipschitz L_k,{j}"), kernel, "standardised");
            let rate = gamma_growth(output.kernel);
            row(format!("growth of gamma_n, output {j}"), rate.into(), "");
        }
        let dynamics = format!("{:.4}", self.dynamics_lipschitz);
        row("dynamics Lipschitz L_f".into(), dynamics, "physical");
        let std = format!("{:.4}", self.std_lipschitz);
        row("uncertainty Lipschitz L_sigma".into(), std, "physical");
        if let Some(smoothness) = smoothness {
            let decimal = self.ln_constant(smoothness) / std::f64::consts::LN_10;
            let constant = format!("10^{decimal:.2}");
            row("C_n".into(), constant, "return per unit of ‖sigma‖");
        }
        rows
    }
}

/// A number of a [`Theory`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TheoryRow {
    /// What it is.
    pub name: String,
    /// What it comes to.
    pub value: String,
    /// In what.
    pub unit: &'static str,
}

impl fmt::Display for TheoryRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:32} {:>14} {}", self.name, self.value, self.unit)
    }
}

impl fmt::Display for Theory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.rows(None) {
            writeln!(f, "{row}")?;
        }
        writeln!(f, "assuming that")?;
        for assumption in ASSUMPTIONS.iter().filter(|a| !a.starts_with("for C_n")) {
            writeln!(f, "- {assumption}")?;
        }
        Ok(())
    }
}
