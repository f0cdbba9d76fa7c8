//! One bounded descent of the likelihood: L-BFGS-B (`basin`) over the
//! logarithms of noise ratio, constant ratio and lengthscales.

use std::cell::RefCell;
use std::ops::ControlFlow;

use basin::{
    BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction, Executor,
    FirstOrderState, Gradient, Lbfgsb,
};

use hambo_core::model::Kernel;

use super::kernel_matrix::ScaledPoints;
use super::likelihood::{Relative, Signal, Workspace};
use super::options::{Parameter, SearchOptions};
use crate::gaussian_process::error::GaussianProcessError;
use crate::gaussian_process::kernel::Hyperparameters;

/// A descent ends where no derivative, in nats per factor of e, exceeds this …
const FLAT: f64 = 1e-3;
/// … or a step gains less than this part of the value.
const GAIN: f64 = 1e-8;
/// A parameter this close to its limit, in logarithms, lies on it.
const ON_LIMIT: f64 = 1e-6;

/// The parameters of one output: which ones there are, and their limits.
#[derive(Debug, Clone)]
pub(super) struct Space {
    pub(super) kernel: Kernel,
    constant: bool,
    signal: (f64, f64),
    /// Limits of the logarithms.
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

impl Space {
    /// The lengthscales of constant inputs are not searched for: they are 1.
    pub(super) fn new(options: &SearchOptions, constant_inputs: &[bool]) -> Self {
        let bounds = &options.bounds;
        let mut limits = vec![bounds.noise_ratio];
        limits.extend(options.constant.then_some(bounds.constant_ratio));
        limits.extend(constant_inputs.iter().map(|constant| {
            if *constant {
                (1.0, 1.0)
            } else {
                bounds.lengthscale
            }
        }));
        Self {
            kernel: options.kernel,
            constant: options.constant,
            signal: bounds.signal_variance,
            low: limits.iter().map(|limit| limit.0.ln()).collect(),
            high: limits.iter().map(|limit| limit.1.ln()).collect(),
        }
    }

    /// A point of the space: the ratios and the lengthscales.
    fn read(&self, logarithms: &[f64]) -> Option<(Relative, Vec<f64>)> {
        let (noise, rest) = logarithms.split_first()?;
        let (constant, lengthscales) = if self.constant {
            rest.split_first().map(|(c, rest)| (c.exp(), rest))?
        } else {
            (0.0, rest)
        };
        let relative = Relative {
            noise: noise.exp(),
            constant,
        };
        Some((relative, lengthscales.iter().map(|l| l.exp()).collect()))
    }

    /// Where a descent on more rows starts from: what a part of the rows took
    /// for irrelevant, a very long lengthscale or a tiny constant, has lost its
    /// derivative and would stay so. It gets it back.
    pub(super) fn revived(&self, mut logarithms: Vec<f64>) -> Vec<f64> {
        let fixed = 1 + usize::from(self.constant);
        let inputs = self.low.len().saturating_sub(fixed);
        let longest = (10.0 * (inputs as f64).sqrt()).ln();
        for (index, value) in logarithms.iter_mut().enumerate() {
            let moved = match index {
                0 => *value,
                1 if self.constant => value.max(0.01_f64.ln()),
                _ => value.min(longest),
            };
            let limits = self.low.get(index).zip(self.high.get(index));
            *value = limits.map_or(*value, |(low, high)| moved.max(*low).min(*high));
        }
        logarithms
    }

    /// The hyperparameters at a point, given the signal variance.
    pub(super) fn hyperparameters(&self, found: &Minimum) -> Option<Hyperparameters> {
        let (relative, lengthscales) = self.read(&found.logarithms)?;
        let signal = found.signal_variance;
        Some(Hyperparameters {
            kernel: self.kernel,
            signal_variance: signal,
            constant_variance: relative.constant * signal,
            lengthscales,
            noise_variance: relative.noise * signal,
        })
    }

    /// Which parameters lie on their limits.
    pub(super) fn at_bounds(&self, found: &Minimum) -> Vec<Parameter> {
        let fixed = 1 + usize::from(self.constant);
        let name = |index: usize| match index {
            0 => Parameter::NoiseRatio,
            1 if self.constant => Parameter::ConstantRatio,
            other => Parameter::Lengthscale(other - fixed),
        };
        let limits = self.low.iter().zip(&self.high);
        let values = found.logarithms.iter().zip(limits).enumerate();
        let touching = values.filter(|(_, (value, (low, high)))| {
            low < high && (*value - *low < ON_LIMIT || *high - *value < ON_LIMIT)
        });
        let signal = found.signal_variance;
        let signal_touches = signal <= self.signal.0 || signal >= self.signal.1;
        let signal_touches = signal_touches.then_some(Parameter::SignalVariance);
        let touching = touching.map(|(index, _)| name(index));
        signal_touches.into_iter().chain(touching).collect()
    }
}

/// The best point of a descent.
#[derive(Debug, Clone)]
pub(super) struct Minimum {
    pub(super) value: f64,
    pub(super) signal_variance: f64,
    pub(super) logarithms: Vec<f64>,
    pub(super) iterations: usize,
    pub(super) evaluations: usize,
}

/// Data of one output in standardised units.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    pub(super) points: &'a [f64],
    pub(super) targets: &'a [f64],
}

/// Told the number of evaluations and the least value so far.
pub(super) type Observer<'a> = &'a dyn Fn(usize, f64) -> ControlFlow<()>;

/// Walks down from `start`, which must lie inside the limits.
pub(super) fn descend(
    space: &Space,
    data: Data<'_>,
    start: Vec<f64>,
    iterations: usize,
    observe: Observer<'_>,
) -> Result<Minimum, Failure> {
    let memory = RefCell::new(Memory {
        workspace: Workspace::new(data.targets.len()),
        last: None,
        best: Minimum {
            value: f64::INFINITY,
            signal_variance: f64::NAN,
            logarithms: start.clone(),
            iterations: 0,
            evaluations: 0,
        },
    });
    let objective = Objective {
        space,
        data,
        observe,
        memory: &memory,
    };
    let solver = Lbfgsb::new()
        .with_absolute_projected_gradient_tolerance(FLAT)
        .with_relative_cost_reduction_tolerance(GAIN);
    let executor = Executor::new(objective, solver, FirstOrderState::new(start));
    let walked = executor
        .max_iter(iterations as u64)
        .run()
        .map(|result| result.iter());
    let mut best = memory.into_inner().best;
    // The box was checked, so only the callback can have ended it.
    best.iterations = walked.map_err(|_| Failure::Stopped)? as usize;
    if best.value.is_finite() {
        Ok(best)
    } else {
        Err(Failure::Singular)
    }
}

/// Why a descent found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// The caller stopped it.
    Stopped,
    /// No kernel matrix could be factorised.
    Singular,
}

impl Failure {
    pub(super) fn error(self, output: usize) -> GaussianProcessError {
        match self {
            Self::Stopped => GaussianProcessError::Stopped,
            Self::Singular => GaussianProcessError::Singular { output },
        }
    }
}

struct Objective<'a> {
    space: &'a Space,
    data: Data<'a>,
    observe: Observer<'a>,
    memory: &'a RefCell<Memory>,
}

struct Memory {
    workspace: Workspace,
    /// Where the likelihood was asked for last, and what it was.
    last: Option<(Vec<f64>, f64, Vec<f64>)>,
    best: Minimum,
}

struct Stopped;

impl Objective<'_> {
    fn evaluate(&self, logarithms: &[f64]) -> Result<(f64, Vec<f64>), Stopped> {
        let mut memory = self.memory.borrow_mut();
        let memory = &mut *memory;
        if let Some((place, value, gradient)) = &memory.last
            && place == logarithms
        {
            return Ok((*value, gradient.clone()));
        }
        let (value, gradient) = self
            .likelihood(&mut memory.workspace, logarithms)
            .unwrap_or_else(|| self.refused(logarithms.len()));
        let best = &mut memory.best;
        best.evaluations += 1;
        if value < best.value {
            best.value = value;
            best.logarithms = logarithms.to_vec();
            let signal = Signal::Likeliest(self.space.signal.0, self.space.signal.1);
            best.signal_variance = signal.choose(memory.workspace.likeliest_signal);
        }
        memory.last = Some((logarithms.to_vec(), value, gradient.clone()));
        match (self.observe)(best.evaluations, best.value) {
            ControlFlow::Continue(()) => Ok((value, gradient)),
            ControlFlow::Break(()) => Err(Stopped),
        }
    }

    /// By noise ratio, constant ratio and lengthscales, at the likeliest signal
    /// variance: its own derivative is 0, or it lies on a limit and stays.
    fn likelihood(&self, workspace: &mut Workspace, at: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (relative, lengthscales) = self.space.read(at)?;
        let scaled = ScaledPoints::new(self.space.kernel, self.data.points, &lengthscales);
        let signal = Signal::Likeliest(self.space.signal.0, self.space.signal.1);
        let found = workspace.evaluate(&scaled, self.data.targets, relative, signal)?;
        let mut gradient = vec![found.by_noise_variance];
        gradient.extend(self.space.constant.then_some(found.by_constant_variance));
        gradient.extend(found.by_lengthscales);
        Some((found.value, gradient))
    }

    /// Far worse than noise alone, but finite, so that the line search can
    /// shorten its step.
    fn refused(&self, parameters: usize) -> (f64, Vec<f64>) {
        let rows = self.data.targets.len() as f64;
        let squares: f64 = self.data.targets.iter().map(|y| y * y).sum();
        (squares + 100.0 * rows, vec![0.0; parameters])
    }
}

impl Constraints for Objective<'_> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;
    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        let limits = BoxBounds::new(Some(&self.space.low), Some(&self.space.high));
        ConstraintSet::new().with_bounds(limits)
    }
}

impl CostFunction for Objective<'_> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = Stopped;
    fn cost(&self, at: &Vec<f64>) -> Result<f64, Stopped> {
        Ok(self.evaluate(at)?.0)
    }
}

impl Gradient for Objective<'_> {
    type Gradient = Vec<f64>;
    fn gradient(&self, at: &Vec<f64>) -> Result<Vec<f64>, Stopped> {
        Ok(self.evaluate(at)?.1)
    }
    fn cost_and_gradient(&self, at: &Vec<f64>) -> Result<(f64, Vec<f64>), Stopped> {
        self.evaluate(at)
    }
}
