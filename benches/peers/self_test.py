"""Known answers: a bandit, a linear system with a known value."""

import types

import numpy as np

from . import importance
from .binary import Log
from .policies import linear


def near(what, got, wanted, tolerance):
    if not abs(got - wanted) <= tolerance:
        raise SystemExit(f"self-test: {what} is {got}, not {wanted} within {tolerance}")
    print(f"{what}: {got:.4g}, wanted {wanted:.4g}")


def bandit(name, behaviour, evaluated, limit, draw, **system):
    """One step whose reward is the first action, with a Gaussian before the limits."""
    count, std = 50_000, 0.5
    actions = len(behaviour)
    noisy = lambda mean, n: limit(mean + std * draw.standard_normal((n, actions)))
    logged, rows = noisy(behaviour, count), np.arange(count)
    states = np.zeros((count, 1))
    log = Log(states, logged, states, logged[:, 0], rows, np.zeros(count, bool))
    policy = lambda mean: linear("p", np.zeros((actions, 1)), mean)
    system = types.SimpleNamespace(
        behaviour=policy(behaviour),
        noise_std=np.full(actions, std),
        limits=(-np.ones(actions), np.ones(actions)),
        **system,
    )
    weights, returns = importance.episode_weights(log, policy(evaluated), system)
    near(f"{name}: mean weight", np.exp(weights).mean(), 1, 0.02)
    truth = noisy(evaluated, 1_000_000)[:, 0].mean()
    told = importance.estimates(weights, returns, 0.05, 0)
    near(f"{name}: importance sampling", told["is"], truth, 0.015)
    near(f"{name}: weighted importance sampling", told["wis"], truth, 0.015)
    near(f"{name}: bootstrap below", float(told["wis_bootstrap"] < told["wis"]), 1, 0)


def importance_of_bandits():
    draw = np.random.default_rng(0)
    bandit("box", [0.0], [0.3], lambda a: np.clip(a, -1, 1), draw, disc=None)

    def shortened(a):
        return a * np.minimum(1, 0.8 / np.linalg.norm(a, axis=1, keepdims=True))

    bandit("disc", [0.2, 0.4], [0.5, 0.3], shortened, draw, disc=0.8)


def fitted_q_of_a_linear_system():
    """s' = s + a, reward -s^2, a = -s / 2: from s the value is -s^2 (1 - 4^-T) / (1 - 1/4)."""
    from . import fitted_q

    draw = np.random.default_rng(0)
    horizon, episodes = 8, 400
    states = np.zeros((episodes, horizon, 1))
    actions = draw.uniform(-1, 1, (episodes, horizon, 1))
    state = draw.uniform(-2, 2, (episodes, 1))
    for t in range(horizon):
        states[:, t] = state
        actions[:, t] = np.clip(-0.3 * state + 0.5 * actions[:, t], -1, 1)
        state = state + actions[:, t]
    after = states + actions
    flat = lambda x: x.reshape(-1, 1)
    numbers = np.repeat(np.arange(episodes), horizon)
    no = np.zeros(len(numbers), bool)
    log = Log(flat(states), flat(actions), flat(after), -flat(states)[:, 0] ** 2, numbers, no)
    starts = np.linspace(-2, 2, 101)[:, None]
    low, high = np.array([-1.0]), np.array([1.0])
    got = fitted_q.evaluate(log, linear("half", [[-0.5]], [0]), horizon, low, high, starts, 0)
    wanted = float(-(starts**2).mean() * (1 - 0.25**horizon) / 0.75)
    near("fitted Q evaluation", got, wanted, 0.05 * abs(wanted))


def run():
    importance_of_bandits()
    fitted_q_of_a_linear_system()
    print("self-test passed")
