"""Batched rollouts of an ensemble in PyTorch, the peer of `hambo bench`.

The same sizes and the same arithmetic as the check's mean propagation: five
networks of 4 x 256 units with a mean and a standard deviation for each state,
their moments, a linear controller, limits and the reward. One line of input
asks for one run; the answer is its time in milliseconds.
"""

import sys
import time

import torch
from torch.nn.functional import softplus

THREADS, TRAJECTORIES, HORIZON = (int(number) for number in sys.argv[1:4])
MEMBERS, WIDTHS = 5, [4, 256, 256, 256, 256, 6]
STATE_LOW, STATE_HIGH = torch.tensor([-1.0, -1.0, -8.0]), torch.tensor([1.0, 1.0, 8.0])
GAIN = torch.tensor([[0.0], [-2.0], [-0.5]])
OUTPUT_SCALE = torch.tensor([0.05, 0.05, 0.2])

torch.set_num_threads(THREADS)
torch.manual_seed(0)
weights = [
    torch.randn(MEMBERS, inputs, outputs) * (2 / inputs) ** 0.5
    for inputs, outputs in zip(WIDTHS, WIDTHS[1:])
]
biases = [0.3 * torch.randn(MEMBERS, 1, outputs) for outputs in WIDTHS[1:]]


@torch.inference_mode()
def rollouts():
    state = 2 * torch.rand(TRAJECTORIES, 3) - 1
    returns = torch.zeros(TRAJECTORIES)
    for _ in range(HORIZON):
        action = (state @ GAIN).clamp_(-2, 2)
        values = torch.cat([state, action], 1).expand(MEMBERS, -1, -1)
        for weight, bias in zip(weights[:-1], biases):
            values = torch.baddbmm(bias, values, weight).relu_()
        heads = torch.baddbmm(biases[-1], values, weights[-1])
        means, stds = heads[..., :3], softplus(heads[..., 3:]).add_(0.01).clamp_(max=10)
        mean = means.mean(0)
        epistemic_std = (means - mean).square_().mean(0).sqrt_() * OUTPUT_SCALE
        aleatoric_std = stds.square_().mean(0).sqrt_() * OUTPUT_SCALE
        angle = torch.atan2(state[:, 1], state[:, 0])
        returns -= angle**2 + 0.1 * state[:, 2] ** 2 + 0.001 * action[:, 0] ** 2
        state = torch.clamp(state + OUTPUT_SCALE * mean, STATE_LOW, STATE_HIGH)
    return returns, epistemic_std, aleatoric_std


rollouts()
for _ in sys.stdin:
    start = time.perf_counter()
    rollouts()
    print(1000 * (time.perf_counter() - start), flush=True)
