"""NPZ to HDF5, `hambo data convert` against h5py, a million rows of 17 + 6 numbers.

    pip install numpy h5py
    python benches/conversion.py --hambo target/release/hambo

Both sides run in turn and read and write the same files. h5py's time leaves
out the start of Python; ours is that of the whole process, with its start.
Ends with exit code 1 if we take more than h5py's time.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import h5py
import numpy


def make(path, rows):
    random = numpy.random.default_rng(0)
    states = random.standard_normal((rows + 1, 17), dtype="f4")
    numpy.savez(
        path,
        observations=states[:-1],
        actions=random.standard_normal((rows, 6), dtype="f4"),
        next_observations=states[1:],
        rewards=random.standard_normal(rows, dtype="f4"),
        terminals=numpy.zeros(rows, dtype=bool),
        timeouts=numpy.arange(rows) % 1000 == 999,
    )


def with_h5py(source, target):
    start = time.perf_counter()
    with numpy.load(source) as arrays, h5py.File(target, "w") as file:
        for key in arrays.files:
            file.create_dataset(key, data=arrays[key])
    return time.perf_counter() - start


def with_hambo(hambo, source, target):
    start = time.perf_counter()
    subprocess.run([hambo, "data", "convert", source, target], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def same(one, other):
    with h5py.File(one) as one, h5py.File(other) as other:
        return set(one) == set(other) and all(
            one[key].dtype == other[key].dtype and (one[key][()] == other[key][()]).all() for key in one
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hambo", default="target/release/hambo")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, ours, theirs = (os.path.join(folder, name) for name in ("log.npz", "ours.hdf5", "theirs.hdf5"))
        make(source, options.rows)
        pairs = []
        for _ in range(options.rounds + 1):
            pairs.append((with_hambo(options.hambo, source, ours), with_h5py(source, theirs)))
        # The first round warms both up.
        pairs = pairs[1:]
        if not same(ours, theirs):
            sys.exit("the two files differ")
        ratio = statistics.median(our / their for our, their in pairs)
        our, their = (statistics.median(side) for side in zip(*pairs))
        print(f"NPZ to HDF5, {options.rows} rows: hambo {our:.3f} s, h5py {their:.3f} s, ratio {ratio:.2f} (at most 1)")
        for file in (source, ours):
            start = time.perf_counter()
            subprocess.run([options.hambo, "data", "info", file], check=True, stdout=subprocess.DEVNULL)
            print(f"hambo data info {os.path.basename(file)}: {time.perf_counter() - start:.2f} s (at most 5)")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"peak memory of hambo: {peak:.0f} MiB (at most 1024)")
        return 0 if ratio <= 1 and peak <= 1024 else 1


sys.exit(main())
