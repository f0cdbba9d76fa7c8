"""One log and all estimates of all controllers from it."""

import dataclasses
import pathlib

import numpy as np

from . import importance, lipschitz, policies
from .binary import Binary, read_log
from .rows import Rows
from .systems import System

TRUE_EPISODES = 2000
CHECK = ["--effort", "quick", "--trajectories", 400, "--variant", "all"]
# Estimator: the variant of the check and the number of it.
OURS = {
    "ca_lower": ("ca", "lower"),
    "ca": ("ca", "mean"),
    "da1_lower": ("da1", "lower"),
    "da1": ("da1", "mean"),
    "dainf_lower": ("dainf", "lower"),
    "dainf": ("dainf", "mean"),
    "mean": ("mean", "mean"),
    "ds": ("ds", "mean"),
    "ts1": ("ts1", "mean"),
    "tsinf": ("tsinf", "mean"),
    "mopo": ("mopo", "mean"),
}
IMPORTANCE = ["is", "is_bootstrap", "wis", "wis_bootstrap"]
FITTED_Q = ["fqe", "fqe_wide"]
USUAL = [*OURS, "fqe", *IMPORTANCE, "lipschitz"]
ALL = [*USUAL, "fqe_wide"]


@dataclasses.dataclass
class Cell:
    """A system and a seed."""

    binary: Binary
    system: System
    seed: int
    folder: pathlib.Path
    rows: Rows

    def run(self, wanted=tuple(USUAL)):
        missing = [p for p in self.system.policies if any(not self.has(p, e) for e in wanted)]
        if not missing:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log_file = self.folder / "log.csv"
        behaviour = self.system.behaviour.write(self.folder)
        arguments = (self.system.episodes, self.system.noise, 1000 + self.seed)
        self.binary.rollout(self.system.name, behaviour, *arguments, self.log_file)
        self.log = read_log(self.log_file, self.system.task)
        for policy in missing:
            self.evaluate(policy, [e for e in wanted if not self.has(policy, e)])

    def has(self, policy, estimator):
        return self.rows.has(self.system.name, self.seed, policy.name, estimator)

    def evaluate(self, policy, wanted):
        file = policy.write(self.folder)
        self.truths = self.rows.truths(self.system.name, policy.name) or self.measured(policy, file)
        if any(e in OURS for e in wanted):
            self.ours(policy, file, wanted)
        if any(e in IMPORTANCE for e in wanted):
            self.importance(policy, wanted)
        if "lipschitz" in wanted:
            self.lipschitz(policy, file)
        for estimator in (e for e in FITTED_Q if e in wanted):
            self.fitted_q(policy, estimator)

    def add(self, policy, estimator, estimate, note=""):
        row = {"system": self.system.name, "seed": self.seed, "policy": policy.name}
        self.rows.add(**row, estimator=estimator, estimate=estimate, note=note, **self.truths)
        truth = self.truths["truth"]
        print(*row.values(), estimator, f"{estimate:.5g}, truth {truth:.5g}", note, flush=True)

    def measured(self, policy, file):
        """True returns, without noise and with that of the log."""
        name = self.system.name
        seen = self.folder / f"{policy.name}.csv"
        self.binary.rollout(name, file, 20, 0.0, 1, seen)
        difference = policies.agrees(policy, read_log(seen, self.system.task), *self.system.limits)
        if difference > 1e-4:
            raise RuntimeError(f"{policy.name} in Python differs from hambo's by {difference}")
        plain = self.binary.rollout(name, file, TRUE_EPISODES, 0.0, 900_000)
        noisy = self.binary.rollout(name, file, TRUE_EPISODES, self.system.noise, 900_001)
        return {
            "truth": plain["mean"],
            "truth_error": plain["std_error"],
            "noisy_truth": noisy["mean"],
            "noisy_truth_error": noisy["std_error"],
        }

    def ours(self, policy, file, wanted):
        model = self.folder / "bnn.hambo"
        if not model.exists():
            more = ["--hidden", "64,64", "--seed", self.seed]
            self.binary.fit(self.system.task_file, self.log_file, model, *more)
        arguments = (self.system.task_file, self.log_file, model, file)
        searched, sweeps = self.system.search
        search = ["--searched", searched, "--sweeps", sweeps, "--seed", self.seed]
        told = self.binary.check(*arguments, *CHECK, *search)
        estimates = {e["variant"]: e for e in told["estimates"]}
        for estimator in (e for e in OURS if e in wanted):
            variant, number = OURS[estimator]
            self.add(policy, estimator, estimates[variant][number], told["verdict"] or "no threshold")

    def importance(self, policy, wanted):
        weights = importance.episode_weights(self.log, policy, self.system)
        estimates = importance.estimates(*weights, self.system.task["delta"], self.seed)
        for estimator in (e for e in IMPORTANCE if e in wanted):
            note = f"worth {estimates['worth']:.2f} episodes"
            self.add(policy, estimator, estimates[estimator], note)

    def lipschitz(self, policy, file):
        if not np.isfinite(self.system.reward_lipschitz * policy.lipschitz):
            self.add(policy, "lipschitz", -np.inf, "vacuous: a constant is not finite")
            return
        model = self.folder / "gp.hambo"
        if not model.exists():
            lipschitz.fit(self.binary, self.system, self.log_file, model, self.seed)
        arguments = (self.system.task_file, self.log_file, model, file)
        told = self.binary.check(*arguments, "--variant", "mean", "--trajectories", 200)
        visited = self.folder / f"{policy.name}.visited.csv"
        self.binary.rollout(self.system.name, file, 20, 0.0, 1, visited)
        mean = told["estimates"][0]["mean"]
        bound, decades = lipschitz.bound(self.binary, self.system, policy, mean, model, visited)
        self.add(policy, "lipschitz", bound, f"subtracts 10^{decades:.1f}")

    def fitted_q(self, policy, estimator):
        from . import fitted_q

        task = (self.system.task["horizon"], *self.system.limits)
        hidden = fitted_q.HIDDEN[estimator]
        value = fitted_q.evaluate(self.log, policy, *task, self.starts(), self.seed, hidden)
        self.add(policy, estimator, value)

    def starts(self):
        """First states: the log's where the task says so, else drawn from the task's."""
        initial = self.system.task["initial"]
        if initial["kind"] == "point":
            return np.array([initial["value"]], float)
        if initial["kind"] == "uniform":
            draw = np.random.default_rng(self.seed)
            return draw.uniform(initial["low"], initial["high"], (1000, len(initial["low"])))
        return self.log.states[self.log.starts()]
