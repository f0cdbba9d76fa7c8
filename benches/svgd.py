"""SVGD in PyTorch, the peer of hambo's trainer: same data, size, objective and stopping rule.

Called by `cargo run --release -p hambo-tests --example svgd`, which writes the
tables. Alone: python3 benches/svgd.py FOLDER SEED WIDTHS STEPS BATCH RATE
PRIOR BANDWIDTH CHECK_EVERY PATIENCE. Prints the held-out negative log
likelihood (members' mean, mixture) and the best step.
"""

import math
import sys

import numpy
import torch

MEMBERS, FLOOR, CAP = 5, 0.01, 10.0


def table(folder, name):
    with open(f"{folder}/{name}.shape") as shape:
        rows, columns = map(int, shape.read().split())
    return torch.from_numpy(numpy.fromfile(f"{folder}/{name}.f32", "<f4").reshape(rows, columns))


def initial(widths, generator):
    """PyTorch's own start of a linear layer, for every member."""
    parameters = []
    for inputs, outputs in zip(widths, widths[1:]):
        bound = 1 / math.sqrt(inputs)
        for shape in [(MEMBERS, inputs, outputs), (MEMBERS, 1, outputs)]:
            uniform = torch.rand(shape, generator=generator) * 2 - 1
            parameters.append((uniform * bound).requires_grad_())
    return parameters


def row_losses(parameters, inputs, targets):
    """Negative log likelihood of each row, [members, rows]."""
    values = inputs if inputs.dim() == 3 else inputs.expand(MEMBERS, -1, -1)
    for layer in range(0, len(parameters), 2):
        values = torch.baddbmm(parameters[layer + 1], values, parameters[layer])
        if layer + 2 < len(parameters):
            values = torch.relu(values)
    mean, raw = values.chunk(2, dim=-1)
    std = (FLOOR + torch.nn.functional.softplus(raw)).clamp(max=CAP)
    score = (targets - mean) / std
    return (0.5 * score**2 + std.log() + 0.5 * math.log(2 * math.pi)).sum(-1)


def flat(tensors):
    return torch.cat([tensor.reshape(MEMBERS, -1) for tensor in tensors], dim=1)


def svgd_gradient(parameters, bandwidth):
    """Replaces gradients of −log p by −phi."""
    places, gradients = flat(parameters).detach(), flat([p.grad for p in parameters])
    kernel = torch.exp(-torch.cdist(places, places) ** 2 / (2 * bandwidth))
    push = (kernel.sum(1, keepdim=True) * places - kernel @ places) / bandwidth
    direction = (kernel @ gradients - push) / MEMBERS
    start = 0
    for p in parameters:
        count = p[0].numel()
        p.grad.copy_(direction[:, start : start + count].reshape(p.shape))
        start += count


def train(sets, widths, seed, steps, batch, rate, prior, bandwidth, check_every, patience):
    (inputs, targets), (held_inputs, held_targets) = sets["train"], sets["validation"]
    generator = torch.Generator().manual_seed(seed)
    parameters = initial([inputs.shape[1], *widths, 2 * targets.shape[1]], generator)
    adam = torch.optim.Adam(parameters, lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, steps)
    rows, best, best_step, stale, order = len(inputs), math.inf, 0, 0, None
    kept = [p.detach().clone() for p in parameters]
    for step in range(1, steps + 1):
        if order is None or order.shape[1] < batch:
            order = torch.stack([torch.randperm(rows, generator=generator) for _ in range(MEMBERS)])
        picked, order = order[:, :batch], order[:, batch:]
        adam.zero_grad(set_to_none=True)
        likelihood = row_losses(parameters, inputs[picked], targets[picked]).sum()
        square = sum((p**2).sum() for p in parameters)
        (likelihood * rows / batch + prior * 0.5 * square).backward()
        svgd_gradient(parameters, bandwidth)
        adam.step()
        schedule.step()
        if step % check_every == 0 or step == steps:
            with torch.no_grad():
                loss = row_losses(parameters, held_inputs, held_targets).mean().item()
            stale += 1
            if loss < best:
                best, best_step, stale = loss, step, 0
                kept = [p.detach().clone() for p in parameters]
            if stale == patience:
                break
    return kept, best_step


def main():
    folder, seed, widths = sys.argv[1], int(sys.argv[2]), [int(w) for w in sys.argv[3].split(",")]
    steps, batch = map(int, sys.argv[4:6])
    rate, prior, bandwidth = map(float, sys.argv[6:9])
    check_every, patience = map(int, sys.argv[9:11])
    raw = {
        name: (table(folder, f"{name}_inputs"), table(folder, f"{name}_targets"))
        for name in ["train", "validation", "test"]
    }
    units = [(t.double().mean(0).float(), t.double().std(0, correction=0).float()) for t in raw["train"]]
    sets = {
        name: tuple((t - mean) / std for t, (mean, std) in zip(tables, units))
        for name, tables in raw.items()
    }
    kept, best_step = train(sets, widths, seed, steps, batch, rate, prior, bandwidth, check_every, patience)
    with torch.no_grad():
        losses = row_losses(kept, *sets["test"]).double()
    mixture = -(torch.logsumexp(-losses, 0) - math.log(MEMBERS)).mean()
    print(losses.mean().item(), mixture.item(), best_step)


if __name__ == "__main__":
    main()
