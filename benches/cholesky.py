"""The Cholesky factor in SciPy, the peer of `hambo bench`.

One line of input asks for one run; the answer is its time in milliseconds.
The number of threads comes in the environment.
"""

import sys
import time

import numpy
from scipy.linalg import cholesky

SIZE = int(sys.argv[2])

places = numpy.arange(SIZE)
kernel = numpy.exp(-numpy.abs(places[:, None] - places) / 50)
kernel = numpy.asfortranarray(kernel + 0.01 * numpy.eye(SIZE))

cholesky(kernel, lower=True, check_finite=False)
for _ in sys.stdin:
    start = time.perf_counter()
    cholesky(kernel, lower=True, check_finite=False)
    print(1000 * (time.perf_counter() - start), flush=True)
