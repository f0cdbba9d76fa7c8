#!/usr/bin/env python3
"""What scikit-learn makes of the problems that tests/tests/gp_scikit_learn.rs fits.

    python3 benches/gp_reference.py > tests/data/gp_reference.txt

The data come from a formula and a linear congruential generator that the test
repeats, so that only scikit-learn's answers are stored: hyperparameters, the
negative log marginal likelihood, and mean and standard deviation (noise
included) at 20 queries. Made with scikit-learn 1.9.1, numpy 2.4.6, scipy
1.17.1; takes a few minutes.
"""

import sys
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

QUERIES = 20

# kernel, dimensions, rows, standard deviation of the noise, restarts
PROBLEMS = [
    ("rbf", 1, 50, 0.1, 10),
    ("matern32", 1, 50, 0.2, 10),
    ("matern52", 1, 100, 0.05, 10),
    ("rbf", 1, 60, 0.001, 10),
    ("rbf", 2, 100, 0.1, 10),
    ("matern52", 2, 200, 0.1, 8),
    ("matern32", 3, 200, 0.1, 8),
    ("rbf", 4, 300, 0.1, 6),
    ("matern52", 4, 500, 0.05, 4),
    ("rbf", 6, 400, 0.2, 4),
    ("matern32", 8, 300, 0.1, 4),
    ("rbf", 8, 1000, 0.1, 2),
    ("matern52", 5, 1000, 0.1, 2),
]


class Generator:
    """Numbers in 0..1 that the test repeats bit by bit."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) * 2.0**-53

    def normal(self):
        return sum(self.uniform() for _ in range(12)) - 6.0


def function(x):
    """Smooth, with a lengthscale of its own in each dimension; from four
    dimensions on the last one does not matter."""
    used = len(x) - 1 if len(x) >= 4 else len(x)
    waves = sum(np.sin((2.0 - 0.2 * d) * x[d] + 0.5 * d) / (1.0 + d) for d in range(used))
    return waves + 0.25 * x[0] * x[used - 1]


def problem(seed, dimensions, rows, noise):
    draw = Generator(seed)
    inputs, targets = [], []
    for _ in range(rows):
        x = [4.0 * draw.uniform() - 2.0 for _ in range(dimensions)]
        inputs.append(x)
        targets.append(function(x) + noise * draw.normal())
    queries = [[5.0 * draw.uniform() - 2.5 for _ in range(dimensions)] for _ in range(QUERIES)]
    return np.array(inputs), np.array(targets), np.array(queries)


def shape(kernel, dimensions):
    lengthscales = np.ones(dimensions)
    if kernel == "rbf":
        return RBF(lengthscales)
    return Matern(lengthscales, nu={"matern32": 1.5, "matern52": 2.5}[kernel])


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    versions = f"scikit-learn {sklearn.__version__}, numpy {np.__version__}, scipy {scipy.__version__}"
    print(f"# By benches/gp_reference.py with {versions}")
    for seed, (kernel, dimensions, rows, noise, restarts) in enumerate(PROBLEMS, start=1):
        inputs, targets, queries = problem(seed, dimensions, rows, noise)
        white = WhiteKernel(0.01, noise_level_bounds=(1e-9, 1e5))
        process = GaussianProcessRegressor(
            ConstantKernel(1.0) * shape(kernel, dimensions) + white,
            alpha=0.0,
            n_restarts_optimizer=restarts,
            random_state=0,
        )
        process.fit(inputs, targets)
        signal, white = process.kernel_.k1, process.kernel_.k2
        mean, std = process.predict(queries, return_std=True)
        numbers = lambda values: " ".join(f"{value:.17g}" for value in np.atleast_1d(values))
        print(f"problem {kernel} {seed} {dimensions} {rows} {noise}")
        print(f"negative_log_likelihood {-process.log_marginal_likelihood_value_:.17g}")
        print("signal_variance", numbers(signal.k1.constant_value))
        print("noise_variance", numbers(white.noise_level))
        print("lengthscales", numbers(signal.k2.length_scale))
        print("mean", numbers(mean))
        print("std", numbers(std))
        print(kernel, dimensions, rows, -process.log_marginal_likelihood_value_, file=sys.stderr)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
