//! Marginal likelihood and predictions against scikit-learn on stored problems.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_base::Held;
use hambo_core::image::container::Container;
use hambo_core::image::{Part, parse_model};
use hambo_core::model::{Calibration, Kernel, Prediction};
use hambo_core::numeric::Slices;
use hambo_learn::gaussian_process::{
    FittedOutput, GaussianProcessFit, Hyperparameters, Likelihood, Observations, SearchOptions,
    encode_gaussian_process, fit_hyperparameters,
};
use hambo_task::image::{AlignedBytes, LoggedRegion, NoisePools, Uncertainty};
use hambo_tests::pages::ensure_kept;
use hambo_tests::smooth_data::{Generator, function, go_on, physical};

/// Made by benches/gp_reference.py.
const REFERENCE: &str = include_str!("../data/gp_reference.txt");

/// A problem with scikit-learn's answers.
struct Problem {
    name: String,
    columns: usize,
    inputs: Vec<f64>,
    targets: Vec<f64>,
    queries: Vec<f64>,
    hyperparameters: Hyperparameters,
    negative_log_likelihood: f64,
    mean: Vec<f64>,
    std: Vec<f64>,
}

impl Problem {
    fn all() -> Vec<Self> {
        let lines: Vec<Vec<&str>> = REFERENCE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().collect())
            .collect();
        lines.chunks(7).map(Self::read).collect()
    }

    fn read(lines: &[Vec<&str>]) -> Self {
        let number = |text: &&str| text.parse::<f64>().unwrap();
        let values = |line: usize, name: &str| -> Vec<f64> {
            assert_eq!(lines[line][0], name);
            lines[line][1..].iter().map(number).collect()
        };
        let kernel = match lines[0][1] {
            "rbf" => Kernel::Rbf,
            "matern32" => Kernel::Matern32,
            _ => Kernel::Matern52,
        };
        let mut draw = Generator(lines[0][2].parse().unwrap());
        let columns: usize = lines[0][3].parse().unwrap();
        let rows: usize = lines[0][4].parse().unwrap();
        let noise = number(&lines[0][5]);
        let (mut inputs, mut targets) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let x: Vec<f64> = (0..columns).map(|_| 4.0 * draw.uniform() - 2.0).collect();
            targets.push(function(&x) + noise * draw.normal());
            inputs.extend(x);
        }
        let (mean, std) = (values(5, "mean"), values(6, "std"));
        let count = mean.len() * columns;
        Self {
            name: lines[0].join(" "),
            columns,
            inputs,
            targets,
            queries: (0..count).map(|_| 5.0 * draw.uniform() - 2.5).collect(),
            hyperparameters: Hyperparameters {
                kernel,
                signal_variance: values(2, "signal_variance")[0],
                constant_variance: 0.0,
                lengthscales: values(4, "lengthscales"),
                noise_variance: values(3, "noise_variance")[0],
            },
            negative_log_likelihood: values(1, "negative_log_likelihood")[0],
            mean,
            std,
        }
    }

    fn observations(&self) -> Observations<'_> {
        Observations {
            inputs: &self.inputs,
            input_columns: self.columns,
            targets: &self.targets,
            target_columns: 1,
            held: Held::NONE,
        }
    }

    fn fit(&self, options: &SearchOptions) -> FittedOutput {
        let units = physical(self.columns, 1);
        let found = fit_hyperparameters(&self.observations(), &units, options, &mut go_on);
        found.unwrap().remove(0)
    }

    /// Mean and epistemic standard deviation of the core at each query, and
    /// the latter before it was rounded up, which the core does in the end
    /// where it computes in integers. The core wants an action: an input that
    /// is always 0.
    fn core_moments(&self) -> Vec<(f64, f64, Option<f64>)> {
        let columns = self.columns + 1;
        let rows = self.inputs.chunks(self.columns);
        let inputs: Vec<f64> = rows.flat_map(|x| x.iter().chain(&[0.0])).copied().collect();
        let mut hyperparameters = self.hyperparameters.clone();
        hyperparameters.lengthscales.push(1.0);
        let observations = Observations {
            inputs: &inputs,
            input_columns: columns,
            targets: &self.targets,
            target_columns: 1,
            held: Held::NONE,
        };
        let units = physical(columns, 1);
        let fit = GaussianProcessFit::new(&observations, &units, &[hyperparameters]).unwrap();
        let uncertainty = Uncertainty {
            features: 1,
            beta: 1.0,
            calibration_scale: vec![1.0],
            calibration: Calibration::Passed,
            tested_steps: u16::MAX,
            noise_scale: vec![1.0; 1],
            noise_factor: Vec::new(),
            noise_pools: NoisePools::default(),
            width_regions: Vec::new(),
            support: LoggedRegion::ball(columns, 10.0),
        };
        let bytes = AlignedBytes::new(&encode_gaussian_process(&fit, &uncertainty).unwrap());
        let part = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
        let model = parse_model(&part).unwrap();
        let stationary = self.hyperparameters.kernel != Kernel::Linear;
        // After the calibration scale, the support's four runs and five units.
        let inputs = 4 * columns.div_ceil(4);
        let triangle = 4 * (columns * (columns + 1) / 2).div_ceil(4);
        let before = 4 * 4 + 5 * inputs + triangle;
        let numbers = part.arena.chunks(4).skip(before).take(6);
        let numbers = numbers.map(|x| f32::from_le_bytes(x.try_into().unwrap()));
        let numbers: Vec<f64> = numbers.map(f64::from).collect();
        let (variance_error, factor, error) = (numbers[3], numbers[4], numbers[5]);
        let unrounded = |std: f64| {
            let core = (std - error) / factor;
            (core * core - variance_error).max(0.0).sqrt()
        };
        let mut scratch = vec![[0.0; 1]; model.dynamics.scratch_rows().unwrap()];
        let mut moments = Vec::new();
        for query in self.queries.chunks(self.columns) {
            let input = query.iter().chain(&[0.0]).map(|x| [*x as f32]);
            let input: Vec<[f32; 1]> = input.collect();
            let (state, action) = input.split_at(1);
            let [mut mean, mut epistemic, mut aleatoric] = [[[0.0; 1]; 1]; 3];
            let mut prediction = Prediction {
                mean: &mut mean,
                epistemic_std: &mut epistemic,
                aleatoric_std: &mut aleatoric,
            };
            model.dynamics.predict(
                state,
                action,
                &mut scratch,
                &mut prediction,
                &Slices::default(),
            );
            let (mean, std) = (f64::from(mean[0][0]), f64::from(epistemic[0][0]));
            moments.push((mean, std, stationary.then(|| unrounded(std))));
        }
        moments
    }

    fn options(&self) -> SearchOptions {
        let ratio = self.hyperparameters.noise_variance / self.hyperparameters.signal_variance;
        let mut options = SearchOptions {
            kernel: self.hyperparameters.kernel,
            ..SearchOptions::default()
        };
        // Four of the problems have about as little noise as the core would like, or less.
        if ratio < 2e-4 {
            options.bounds.noise_ratio.0 = 1e-8;
        }
        options
    }
}

#[test]
fn as_likely_as_scikit_learn_or_more() {
    let problems = Problem::all();
    assert!(problems.len() >= 13);
    let mut gains = Vec::new();
    for problem in problems {
        let at_reference =
            Likelihood::new(&problem.hyperparameters, &problem.inputs, &problem.targets);
        let (known, stated) = (at_reference.unwrap().value, problem.negative_log_likelihood);
        assert!(
            (known - stated).abs() < 1e-5 * (1.0 + stated.abs()),
            "{known} {stated}"
        );
        let found = problem.fit(&problem.options());
        println!(
            "{:28} {stated:12.4} {:12.4} ({} evaluations, starts {:.2?})",
            problem.name, found.negative_log_likelihood, found.evaluations, found.start_likelihoods,
        );
        assert!(
            found.negative_log_likelihood < stated + 0.1,
            "{}",
            problem.name
        );
        // What is returned has the likelihood that is stated.
        let again = Likelihood::new(&found.hyperparameters, &problem.inputs, &problem.targets);
        assert!((again.unwrap().value - found.negative_log_likelihood).abs() < 1e-6);
        gains.push(stated - found.negative_log_likelihood);
    }
    let equal = gains.iter().filter(|gain| gain.abs() < 5e-5).count();
    let most = gains.iter().copied().fold(0.0, f64::max);
    ensure_kept("gp-equal", equal as f64, 0.0).unwrap();
    ensure_kept("gp-gain", most, 0.05).unwrap();
}

#[test]
fn predicts_what_scikit_learn_predicts() {
    // Of all problems: means, deviations that are rounded up, and those of f but for one.
    let mut most = [0.0_f64; 3];
    for problem in Problem::all() {
        let (mut worst_mean, mut worst_std) = ([0.0_f64; 2], [0.0_f64; 2]);
        let (mut loosest, mut worst_unrounded) = (0.0_f64, 0.0_f64);
        let fit = GaussianProcessFit::new(
            &problem.observations(),
            &physical(problem.columns, 1),
            std::slice::from_ref(&problem.hyperparameters),
        );
        let fit = fit.unwrap();
        let noise = problem.hyperparameters.noise_variance;
        let count = problem.targets.len() as f64;
        let mean = problem.targets.iter().sum::<f64>() / count;
        let spread = problem.targets.iter().map(|y| (y - mean).powi(2));
        let scale = (spread.sum::<f64>() / count).sqrt();
        let core = problem.core_moments();
        let queries = problem.queries.chunks(problem.columns);
        let expected = problem.mean.iter().zip(&problem.std);
        for ((query, (mean, std)), core) in queries.zip(expected).zip(core) {
            let host = fit.posterior(query)[0];
            loosest = loosest.max(core.1 / host.1.sqrt() - 1.0);
            // The standard deviation of f alone, which the core may only
            // round up, up to the query's own rounding to f32.
            assert!(core.1 > host.1.sqrt() - 1e-7 * scale, "{}", problem.name);
            let found = [(host.0, host.1.sqrt()), (core.0, core.1)];
            if let Some(unrounded) = core.2 {
                let error = ((unrounded.powi(2) + noise).sqrt() - std) / scale;
                worst_unrounded = worst_unrounded.max(error.abs());
            }
            for (place, (m, s)) in found.into_iter().enumerate() {
                let error = (m - mean).abs() / scale;
                worst_mean[place] = worst_mean[place].max(error);
                let excess = ((s * s + noise).sqrt() - std) / scale;
                worst_std[place] = worst_std[place].max(excess.abs());
                // The core rounds up, never down.
                assert!(excess > -1e-6, "{}: {excess}", problem.name);
            }
        }
        let ratio = noise / problem.hyperparameters.signal_variance;
        let ([host, core], [host_std, core_std]) = (worst_mean, worst_std);
        println!(
            "{:28} noise/signal {ratio:.0e}, of the targets' spread: means to {host:.0e} and {core:.1e}, deviations to {host_std:.0e} and, before they are rounded up, {worst_unrounded:.1e}, after it {core_std:.1e}; that of f at most {:.2} % too large",
            problem.name,
            100.0 * loosest,
        );
        assert!(host < 1e-6 && host_std < 1e-6);
        // The weights grow as the noise shrinks: in f32 the errors would grow
        // with them, up to 2e-2.
        let limit = if ratio > 1e-4 { 1e-5 } else { 1e-4 };
        assert!(core < limit, "{}: {core}", problem.name);
        // Integers find what scikit-learn finds. What is then added covers
        // the worst case of all rounding, the mean's too.
        let limit = if ratio > 1e-6 { 1e-4 } else { 1e-3 };
        assert!(
            worst_unrounded < limit,
            "{}: {worst_unrounded}",
            problem.name
        );
        // The standard deviation of f is at most 4 % too large, in f32 and in
        // integers, until 32 bits do not suffice.
        assert!(loosest < 0.04 || ratio < 1e-6, "{}", problem.name);
        let limit = if ratio > 1e-6 { 2e-3 } else { 1e-2 };
        assert!(core_std < limit, "{}: {core_std}", problem.name);
        let usual = if ratio < 1e-6 { 0.0 } else { 100.0 * loosest };
        let now = [core, core_std, usual];
        most = std::array::from_fn(|i| most[i].max(now[i]));
    }
    let names = ["gp-means", "gp-rounded-up", "gp-loosest"];
    for (name, most) in names.into_iter().zip(most) {
        ensure_kept(name, most, 0.05).unwrap();
    }
}
