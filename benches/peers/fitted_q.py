"""Fitted Q evaluation by d3rlpy.

The return is undiscounted over a fixed horizon, so the discount is 1, the part of the horizon
that is left is one more observation, and the last step of the horizon is terminal. Observations
and actions are standardised, rewards divided by the standard deviation of the logged rewards
to go. The update is d3rlpy's own; only the minibatches are drawn here, from arrays.
"""

import types

import numpy as np
import torch
from d3rlpy.models.encoders import VectorEncoderFactory
from d3rlpy.ope import FQE, FQEConfig
from d3rlpy.torch_utility import TorchMiniBatch

BATCH = 100
HIDDEN = {"fqe": [64, 64], "fqe_wide": [256, 256]}
"""As wide as hambo's networks on these logs, and d3rlpy's default."""
LEARNING_RATE = 1e-3
TARGET_INTERVAL = 50
UPDATES_PER_STEP = 60
LEAST_UPDATES = 5000


def updates(horizon) -> int:
    """A value travels one step back with each new target, so the number grows with the horizon."""
    return max(LEAST_UPDATES, UPDATES_PER_STEP * horizon)


class Units:
    """Observations, actions and rewards as the network sees them."""

    def __init__(self, log, horizon, low, high):
        self.mean, self.std = log.states.mean(0), log.states.std(0) + 1e-9
        self.low, self.high, self.horizon = low, high, horizon
        to_go, total = np.empty(len(log.rewards)), 0.0
        steps = log.steps()
        for k in range(len(to_go) - 1, -1, -1):
            total = log.rewards[k] + (total if k + 1 < len(to_go) and steps[k + 1] > 0 else 0.0)
            to_go[k] = total
        self.reward = to_go.std() + 1e-9

    def observations(self, states, left):
        return np.column_stack([(states - self.mean) / self.std, 2 * left / self.horizon - 1])

    def states(self, observations):
        return observations[:, :-1] * self.std + self.mean

    def actions(self, actions):
        return 2 * (np.clip(actions, self.low, self.high) - self.low) / (self.high - self.low) - 1


def tensor(array):
    return torch.tensor(np.asarray(array), dtype=torch.float32)


def evaluate(log, policy, horizon, low, high, starts, seed, hidden=HIDDEN["fqe"]) -> float:
    """The value of a policy, mean over `starts`."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    units = Units(log, horizon, low, high)
    steps = log.steps()
    now = units.observations(log.states, horizon - steps)
    after = units.observations(log.next_states, horizon - steps - 1)
    next_actions = tensor(units.actions(policy.act(log.next_states)))
    data = [tensor(x) for x in (now, units.actions(log.actions), log.rewards[:, None] / units.reward)]
    data += [tensor(after), tensor((log.terminal | (steps == horizon - 1))[:, None])]

    # What d3rlpy asks the evaluated algorithm for: actions at the next states. They do not
    # change, so they are looked up.
    rows = torch.zeros(BATCH, dtype=torch.long)
    actor = types.SimpleNamespace(predict_best_action=lambda _: next_actions[rows])
    config = FQEConfig(
        learning_rate=LEARNING_RATE,
        encoder_factory=VectorEncoderFactory(hidden_units=hidden),
        gamma=1.0,
        target_update_interval=TARGET_INTERVAL,
    )
    learner = FQE(types.SimpleNamespace(impl=actor), config, device="cpu:0")
    learner.create_impl((now.shape[1],), log.actions.shape[1])
    ones = torch.ones(BATCH, 1)
    count = updates(horizon)
    optimiser = learner.impl._modules.optim.optim
    for step in range(1, count + 1):
        # The rate falls to a hundredth over the last half, so that the end is not noise.
        for group in optimiser.param_groups:
            group["lr"] = LEARNING_RATE * min(1.0, 0.01 ** (2 * step / count - 1))
        rows = torch.randint(len(now), (BATCH,))
        o, a, r, n, t = (x[rows] for x in data)
        batch = TorchMiniBatch(o, a, r, n, a, r, t, ones, "cpu:0")
        learner.impl.inner_update(batch, step)
    first = units.observations(starts, np.full(len(starts), horizon))
    wanted = units.actions(policy.act(starts))
    values = learner.predict_value(first.astype(np.float32), wanted.astype(np.float32))
    return float(values.mean() * units.reward)
