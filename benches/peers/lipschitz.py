"""The paper's bound from Lipschitz constants: J >= J(mean model) - C_n E|sigma_n|.

The theorem bounds the difference between the true return and that of any dynamics inside the
set, and the mean model is one of them. C_n comes from `hambo model info`, for a Gaussian
process on some of the log's rows. The expectation is over the true system's trajectories, as
the theorem has it; a user has none of them, so the bound is shown at its best. A jump in the
reward or in the controller makes a constant infinite, and then there is no bound.
"""

import csv
import json
import math

import numpy as np

ROWS = 400


def fit(binary, system, log_file, model, seed):
    """A Gaussian process on `ROWS` rows of the log, drawn at random."""
    with open(log_file, newline="") as file:
        header, *rows = list(csv.reader(file))
    chosen = np.random.default_rng(seed).permutation(len(rows))[:ROWS]
    thinned = model.with_suffix(".csv")
    with open(thinned, "w", newline="") as file:
        csv.writer(file).writerows([header, *(rows[k] for k in sorted(chosen))])
    binary.fit(system.task_file, thinned, model, "--model", "gp", "--points", 64, "--starts", 1)


def expected_epistemic_norm(binary, task, model, visited_file) -> float:
    """E|sigma_n(s, a)| over the states and actions of a file."""
    predicted = visited_file.with_suffix(".sigma.csv")
    binary.run("predict", model, "--data", visited_file, "-o", predicted)
    with open(predicted, newline="") as file:
        names = [f"epistemic_std.{name}" for name in task["state"]["names"]]
        rows = [[float(row[name]) for name in names] for row in csv.DictReader(file)]
    return np.linalg.norm(np.array(rows), axis=1).mean()


def bound(binary, system, policy, mean_return, model, visited_file) -> tuple[float, float]:
    """The bound, and the decimal logarithm of what it subtracts."""
    if not math.isfinite(system.reward_lipschitz * policy.lipschitz):
        return -math.inf, math.inf
    task = system.task
    constants = ["--reward-lipschitz", system.reward_lipschitz, "--policy-lipschitz", policy.lipschitz]
    told = binary.run("model", "info", model, *constants, "--horizon", task["horizon"], "--json")
    width = expected_epistemic_norm(binary, task, model, visited_file)
    logarithm = json.loads(told)["ln_c_n"] + math.log(width)
    # Beyond 10^304 there is no such number.
    taken = math.exp(logarithm) if logarithm < 700 else math.inf
    return mean_return - taken, logarithm / math.log(10)
