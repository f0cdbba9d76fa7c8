"""The rows of results/peers.csv. A row that is there is not computed again."""

import csv
import pathlib

COLUMNS = [
    "system", "seed", "policy", "estimator", "estimate",
    "truth", "truth_error", "noisy_truth", "noisy_truth_error", "note",
]  # fmt: skip
NUMBERS = COLUMNS[4:9]


class Rows:
    def __init__(self, path: pathlib.Path):
        self.path, self.rows = path, []
        if path.exists():
            with open(path, newline="") as file:
                self.rows = [self.parsed(row) for row in csv.DictReader(file)]

    @staticmethod
    def parsed(row):
        return row | {"seed": int(row["seed"])} | {name: float(row[name]) for name in NUMBERS}

    def has(self, *key) -> bool:
        return any((r["system"], r["seed"], r["policy"], r["estimator"]) == key for r in self.rows)

    def truths(self, system, policy):
        """The true returns and their errors, if a row holds them."""
        found = (r for r in self.rows if (r["system"], r["policy"]) == (system, policy))
        row = next(found, None)
        return row and {name: row[name] for name in NUMBERS[1:]}

    def add(self, **row):
        new = not self.path.exists()
        row |= {name: float(f"{row[name]:.6g}") for name in NUMBERS}
        with open(self.path, "a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append(row)
