"""Training steps of an ensemble in PyTorch, the peer of `hambo bench`.

Five networks of 4 x 256 units in batched products, a minibatch of each one's
own, the Gaussian likelihood, backward, and Adam with decoupled weight decay.
One line of input asks for one run; the answer is the time of one step in
milliseconds.
"""

import sys
import time

import torch
from torch.nn.functional import softplus

THREADS, ROWS, BATCH, STEPS = (int(number) for number in sys.argv[1:5])
MEMBERS, WIDTHS = 5, [4, 256, 256, 256, 256, 6]

torch.set_num_threads(THREADS)
torch.manual_seed(0)
weights = [
    (torch.randn(MEMBERS, inputs, outputs) * (2 / inputs) ** 0.5).requires_grad_()
    for inputs, outputs in zip(WIDTHS, WIDTHS[1:])
]
biases = [(0.3 * torch.randn(MEMBERS, 1, outputs)).requires_grad_() for outputs in WIDTHS[1:]]
adam = torch.optim.AdamW(weights + biases, lr=1e-4, weight_decay=1e-4, fused=True)
inputs = torch.randn(ROWS, 4)
targets = torch.randn(ROWS, 3)
member = torch.arange(MEMBERS)[:, None]


def step(rows):
    values, target = inputs[rows], targets[rows]
    for weight, bias in zip(weights[:-1], biases):
        values = torch.baddbmm(bias, values, weight).relu_()
    heads = torch.baddbmm(biases[-1], values, weights[-1])
    mean, std = heads[..., :3], softplus(heads[..., 3:]) + 0.01
    loss = (std.log() + 0.5 * ((mean - target) / std).square()).sum() / BATCH
    adam.zero_grad(set_to_none=True)
    loss.backward()
    adam.step()


def steps():
    order = torch.rand(MEMBERS, ROWS).argsort(1)
    for index in range(STEPS):
        first = index * BATCH % ROWS
        step(order[:, first : first + BATCH])


steps()
for _ in sys.stdin:
    start = time.perf_counter()
    steps()
    print(1000 * (time.perf_counter() - start) / STEPS, flush=True)
