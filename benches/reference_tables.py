#!/usr/bin/env python3
"""Holds the tables in the tests against the libraries that they come from.

Every number is computed again: quantiles of Student's t, of the normal and of
the beta distribution with SciPy, and every row of tests/data/pendulum_v1.csv
with one step of Gymnasium's Pendulum-v1. Ends with 1 if one differs. Run from the
root, after `pip install -r benches/requirements.txt`:

    python3 benches/reference_tables.py
"""

import csv
import re
import sys

import gymnasium
import numpy
import scipy
from scipy import stats

NUMBER = r"(\d[\d_]*(?:\.[\d_]*)?(?:e-?\d+)?)"

# File, what stands before its table, numbers of a row, the row's last number from the others.
TABLES = [
    ("hambo-core/src/estimate/student.rs", "const TABLE", 3, lambda n, tail: stats.t.isf(tail, n)),
    ("hambo-core/src/numeric/random.rs", "let table = [", 2, stats.norm.isf),
    (
        "hambo-host/crates/learn/src/calibration/distributions.rs",
        "fn quantiles_agree_with_the_tables",
        4,
        lambda a, b, p: stats.beta.ppf(p, a, b),
    ),
]
PENDULUM = "tests/data/pendulum_v1.csv"


def hold_quantiles() -> bool:
    good = True
    for file, heading, columns, function in TABLES:
        text = open(file, encoding="utf-8").read().split(heading, 1)[1]
        row = re.compile(r"\(\s*" + r",\s*".join([NUMBER] * columns) + r",?\s*\),")
        table = text[: re.search(r"\n\s*\](?: \{|;)", text).start()]
        rows = [[float(x.replace("_", "")) for x in match] for match in row.findall(table)]
        errors = [abs(function(*row[:-1]) / row[-1] - 1) for row in rows]
        print(f"{file}: {len(rows)} rows, largest relative error {max(errors):.1e}")
        good &= len(rows) > 4 and max(errors) < 1e-6
    return good


def hold_pendulum() -> bool:
    system = gymnasium.make("Pendulum-v1").unwrapped
    system.reset(seed=0)
    largest = 0.0
    rows = [[float(x) for x in row] for row in list(csv.reader(open(PENDULUM)))[1:]]
    for theta, speed, action, *stored in rows:
        system.state = numpy.array([theta, speed])
        observation, reward, *_ = system.step(numpy.array([action]))
        found = [*system.state, reward, *observation]
        # The observation is in single precision, and stored so.
        differences = [abs(a - b) / (1 + abs(b)) for a, b in zip(found, stored, strict=True)]
        largest = max(largest, *differences)
    print(f"{PENDULUM}: {len(rows)} rows, largest difference {largest:.1e}")
    return len(rows) == 4000 and largest < 1e-12


if __name__ == "__main__":
    print(f"scipy {scipy.__version__}, gymnasium {gymnasium.__version__}, numpy {numpy.__version__}")
    # Both, so that the second is seen where the first fails.
    held = [hold_quantiles(), hold_pendulum()]
    sys.exit(0 if all(held) else 1)
