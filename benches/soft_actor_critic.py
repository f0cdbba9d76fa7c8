"""Gradient steps of soft actor-critic in Stable-Baselines3, the peer of `hambo bench`.

Its own SAC on a buffer of random transitions: twin critics of 2 x 256 units,
trailing targets, learned temperature. One line of input asks for one run; the
answer is the time of one gradient step in milliseconds.
"""

import sys
import time

import gymnasium
import numpy
import torch
from stable_baselines3 import SAC
from stable_baselines3.common.logger import Logger

THREADS, OBSERVATIONS, ACTIONS, ROWS, BATCH, STEPS = (int(number) for number in sys.argv[1:7])

torch.set_num_threads(THREADS)


class Noise(gymnasium.Env):
    """Sizes only; it is never stepped."""

    observation_space = gymnasium.spaces.Box(-10, 10, (OBSERVATIONS,), numpy.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (ACTIONS,), numpy.float32)

    def reset(self, *, seed=None, options=None):
        return numpy.zeros(OBSERVATIONS, numpy.float32), {}


learner = SAC("MlpPolicy", Noise(), buffer_size=ROWS, batch_size=BATCH, seed=0, device="cpu")
learner.set_logger(Logger(None, []))
draw = numpy.random.default_rng(0)
for _ in range(ROWS):
    before, after = draw.standard_normal((2, 1, OBSERVATIONS), numpy.float32)
    action = draw.uniform(-1, 1, (1, ACTIONS)).astype(numpy.float32)
    reward = draw.standard_normal(1, numpy.float32)
    learner.replay_buffer.add(before, after, action, reward, numpy.zeros(1), [{}])


def steps():
    learner.train(gradient_steps=STEPS, batch_size=BATCH)


steps()
for _ in sys.stdin:
    start = time.perf_counter()
    steps()
    print(1000 * (time.perf_counter() - start) / STEPS, flush=True)
