#!/usr/bin/env python3
"""hambo beside what else estimates a return from a log: which number is safe to act on?

    pip install -r benches/peers/requirements.txt
    python3 benches/peers.py --hambo target/release/hambo

Fitted Q evaluation (d3rlpy), importance sampling with a bootstrap, the mean of the ensemble and
the paper's Lipschitz bound estimate the same controllers from the same logs. Rows go to
results/peers.csv, and a call goes on where they end. `--summary` only draws the picture
(`cargo xtask pages` writes the tables); `--self-test` holds the estimators against known answers.
"""

import argparse
import pathlib
import tempfile
import time

from peers import cell, self_test, summary, systems
from peers.binary import Binary
from peers.rows import Rows

RESULTS = pathlib.Path(__file__).parents[1] / "results"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hambo", default="hambo", help="the binary")
    parser.add_argument("--systems", nargs="+", default=list(systems.SYSTEMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--estimators", nargs="+", default=cell.USUAL, choices=cell.ALL)
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS / "peers.csv")
    parser.add_argument("--work", type=pathlib.Path, help="a folder for logs and models that stays")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no log after them")
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    return parser.parse_args()


def main():
    given = arguments()
    if given.self_test:
        self_test.run()
        return
    rows = Rows(given.output)
    if not given.summary:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            work = given.work or pathlib.Path(scratch)
            for seed in range(given.seeds):
                for name in given.systems:
                    if time.monotonic() - begun > 60 * given.minutes:
                        break
                    folder = work / f"{name}_{seed}"
                    one = cell.Cell(Binary(given.hambo), systems.named(name), seed, folder, rows)
                    one.run(tuple(given.estimators))
    summary.show(rows, given.output)


if __name__ == "__main__":
    main()
