"""The `hambo` binary: logs, true returns, models and checks."""

import csv
import dataclasses
import json
import pathlib
import subprocess

import numpy as np


@dataclasses.dataclass(frozen=True)
class Log:
    states: np.ndarray
    actions: np.ndarray
    next_states: np.ndarray
    rewards: np.ndarray
    episodes: np.ndarray
    terminal: np.ndarray
    """Whether the episode ended for ever with this row."""

    def starts(self):
        return np.flatnonzero(np.diff(self.episodes, prepend=-1))

    def steps(self):
        """The number of each row in its episode."""
        first = np.zeros(len(self.episodes), int)
        first[self.starts()] = self.starts()
        return np.arange(len(first)) - np.maximum.accumulate(first)


def read_log(path, task) -> Log:
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))

    def columns(names):
        return np.array([[float(row[name]) for name in names] for row in rows])

    states = task["state"]["names"]
    terminal = [row.get("terminal", "0").lower() in ("1", "true") for row in rows]
    return Log(
        columns(states),
        columns(task["action"]["names"]),
        columns([f"next.{name}" for name in states]),
        columns(["reward"])[:, 0],
        columns(["episode"])[:, 0].astype(int),
        np.array(terminal),
    )


@dataclasses.dataclass(frozen=True)
class Binary:
    path: str
    threads: int = 1

    def run(self, *arguments, codes=(0,)) -> str:
        command = [self.path, "--threads", str(self.threads), "--quiet", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in codes:
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def rollout(self, system, policy, episodes, noise, seed, output: pathlib.Path | None = None) -> dict:
        more = ["-o", output] if output else []
        arguments = ["--episodes", episodes, "--action-noise", noise, "--seed", seed, "--json"]
        return json.loads(self.run("env", "rollout", system, "--policy", policy, *arguments, *more))

    def fit(self, task, log, output, *more):
        self.run("fit", task, "--data", log, "-o", output, *more)

    def check(self, task, log, model, policy, *more) -> dict:
        # 1 is a rejection and 3 an abstention; the numbers are there all the same.
        arguments = ["--data", log, "--model", model, "--policy", policy, "--plan", 0, "--json"]
        return json.loads(self.run("check", task, *arguments, *more, codes=(0, 1, 3)))
