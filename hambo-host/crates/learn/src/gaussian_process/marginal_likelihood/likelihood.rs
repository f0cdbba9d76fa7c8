//! The negative log marginal likelihood and its derivatives, with kept matrices.

use super::super::cholesky::{self, free_registers};
use super::super::kernel::Hyperparameters;
use super::kernel_matrix::{ScaledPoints, lane_sum};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::solve;
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, Mat, MatMut, Par};
use std::f64::consts::TAU;

/// −log p(y) and its derivatives by the logarithms of the hyperparameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Likelihood {
    /// −log p(y), in nats.
    pub value: f64,
    /// ∂ value / ∂ log signal_variance.
    pub by_signal_variance: f64,
    /// ∂ value / ∂ log constant_variance; 0 if there is none.
    pub by_constant_variance: f64,
    /// ∂ value / ∂ log noise_variance.
    pub by_noise_variance: f64,
    /// ∂ value / ∂ log l_d.
    pub by_lengthscales: Vec<f64>,
}

impl Likelihood {
    /// Of `targets` at `points` (row-major), all in standardised units. `None`
    /// if the kernel matrix cannot be factorised or the sizes disagree.
    ///
    /// ```
    /// use hambo_learn::gaussian_process::{Hyperparameters, Kernel, Likelihood};
    ///
    /// let output = Hyperparameters {
    ///     kernel: Kernel::Rbf,
    ///     signal_variance: 2.0,
    ///     constant_variance: 0.0,
    ///     lengthscales: vec![1.0],
    ///     noise_variance: 1.0,
    /// };
    /// // One observation is a normal number of variance 2 + 1.
    /// let found = Likelihood::new(&output, &[0.5], &[1.5]).unwrap();
    /// let expected = 0.5 * (1.5 * 1.5 / 3.0 + (3.0 * std::f64::consts::TAU).ln());
    /// assert!((found.value - expected).abs() < 1e-12);
    /// ```
    #[must_use]
    pub fn new(hyperparameters: &Hyperparameters, points: &[f64], targets: &[f64]) -> Option<Self> {
        let columns = hyperparameters.lengthscales.len();
        if columns == 0 || targets.is_empty() || points.len() != columns * targets.len() {
            return None;
        }
        let signal = hyperparameters.signal_variance;
        let relative = Relative {
            noise: hyperparameters.noise_variance / signal,
            constant: hyperparameters.constant_variance / signal,
        };
        let scaled = ScaledPoints::new(
            hyperparameters.kernel,
            points,
            &hyperparameters.lengthscales,
        );
        let signal = Signal::Given(signal);
        Workspace::new(targets.len()).evaluate(&scaled, targets, relative, signal)
    }
}

/// Noise and constant variance as parts of the signal variance.
#[derive(Debug, Clone, Copy)]
pub struct Relative {
    pub(super) noise: f64,
    pub(super) constant: f64,
}

/// Where the signal variance comes from.
#[derive(Debug, Clone, Copy)]
pub enum Signal {
    Given(f64),
    /// The likeliest in the interval.
    Likeliest(f64, f64),
}

impl Signal {
    /// `likeliest` is yᵀ C⁻¹ y / n.
    pub fn choose(self, likeliest: f64) -> f64 {
        match self {
            Self::Given(signal) => signal,
            Self::Likeliest(low, high) => likeliest.max(low).min(high),
        }
    }
}

/// Two n × n matrices, kept between evaluations.
pub struct Workspace {
    first: Mat<f64>,
    second: Mat<f64>,
    stack: MemBuffer,
    column: Vec<f64>,
    solution: Vec<f64>,
    /// yᵀ C⁻¹ y / n of the last evaluation.
    pub(super) likeliest_signal: f64,
}

impl Workspace {
    pub fn new(rows: usize) -> Self {
        let stack = solve::solve_in_place_scratch::<f64>(rows, 1, Par::Seq);
        Self {
            first: Mat::zeros(rows, rows),
            second: Mat::zeros(rows, rows),
            stack: MemBuffer::new(stack),
            column: vec![0.0; rows],
            solution: vec![0.0; rows],
            likeliest_signal: f64::NAN,
        }
    }

    pub fn evaluate(
        &mut self,
        points: &ScaledPoints,
        targets: &[f64],
        relative: Relative,
        signal: Signal,
    ) -> Option<Likelihood> {
        self.fill(points, relative);
        let half_log_det = self.factorise()?;
        self.solve(targets);
        let rows = targets.len() as f64;
        let square = lane_sum(targets, &self.solution, |y, a| y * a);
        self.likeliest_signal = square / rows;
        let signal = signal.choose(self.likeliest_signal);
        let value = 0.5 * square / signal + half_log_det + 0.5 * rows * (TAU * signal).ln();
        self.invert();
        let gradient = self.gradient(points, relative, signal);
        let by_scale = 0.5 * (rows - square / signal);
        let likelihood = Likelihood {
            value,
            by_signal_variance: by_scale - gradient.noise - gradient.constant,
            by_constant_variance: gradient.constant,
            by_noise_variance: gradient.noise,
            by_lengthscales: gradient.lengthscales,
        };
        let finite = likelihood.by_lengthscales.iter().all(|g| g.is_finite());
        (value.is_finite() && by_scale.is_finite() && finite).then_some(likelihood)
    }

    /// The lower half of C.
    fn fill(&mut self, points: &ScaledPoints, relative: Relative) {
        for j in 0..points.rows() {
            let column = &mut self.first.col_as_slice_mut(j)[j..];
            points.values(j, column);
            column.iter_mut().for_each(|c| *c += relative.constant);
            column[0] += relative.noise;
        }
    }

    /// C = L Lᵀ; ½ log det C.
    fn factorise(&mut self) -> Option<f64> {
        cholesky::factorise(self.first.as_mut())?;
        let diagonal = (0..self.first.nrows()).map(|i| self.first[(i, i)].ln());
        Some(diagonal.sum())
    }

    /// a = C⁻¹ y.
    fn solve(&mut self, targets: &[f64]) {
        self.solution.copy_from_slice(targets);
        let right = MatMut::from_column_major_slice_mut(&mut self.solution, targets.len(), 1);
        let stack = MemStack::new(&mut self.stack);
        solve::solve_in_place(self.first.as_ref(), right, Par::Seq, stack);
        free_registers();
    }

    /// The lower half of C⁻¹ instead of L.
    fn invert(&mut self) {
        invert_lower_triangular(self.second.as_mut(), self.first.as_ref(), Par::Seq);
        matmul(
            self.first.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Replace,
            self.second.transpose(),
            BlockStructure::TriangularUpper,
            self.second.as_ref(),
            BlockStructure::TriangularLower,
            1.0,
            Par::Seq,
        );
        free_registers();
    }

    fn gradient(&mut self, points: &ScaledPoints, relative: Relative, signal: f64) -> Gradient {
        let mut moments = vec![0.0; points.columns()];
        let (mut trace, mut total) = (0.0, 0.0);
        for j in 0..points.rows() {
            let inverse = &mut self.first.col_as_slice_mut(j)[j..];
            let solution = &self.solution[j..];
            let scale = solution[0] / signal;
            // G, with half of its diagonal: what is left out above counts twice.
            let pairs = inverse.iter_mut().zip(solution);
            pairs.for_each(|(g, a)| *g = scale * a - *g);
            trace += inverse[0];
            inverse[0] *= 0.5;
            total += lane_sum(inverse, inverse, |g, _| g);
            let column = &mut self.column[j..];
            points.slopes(j, column);
            let pairs = column.iter_mut().zip(inverse.iter());
            pairs.for_each(|(slope, g)| *slope *= g);
            points.add_moments(j, column, &mut moments);
        }
        Gradient {
            noise: -0.5 * relative.noise * trace,
            constant: -relative.constant * total,
            lengthscales: moments.into_iter().map(|moment| -moment).collect(),
        }
    }
}

pub struct Gradient {
    noise: f64,
    constant: f64,
    lengthscales: Vec<f64>,
}
