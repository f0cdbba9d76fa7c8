"""Writes the ONNX files of this folder and what onnxruntime says about them.

    pip install -r requirements.txt
    python make_fixtures.py

`NAME.onnx` is the network, `NAME.csv` holds 20 inputs and the outputs of
onnxruntime, one line each: inputs, then every output in order.
"""

import csv
import logging
import math
import pathlib

import numpy as np
import onnx
import onnxruntime
import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent
ROWS = 20
logging.getLogger("torch.onnx").setLevel(logging.ERROR)


def mlp(widths, activation):
    layers = []
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), activation()]
    return nn.Sequential(*layers[:-1])


class Scaled(nn.Module):
    """Normalised observations, a network, tanh, the action's range."""

    def __init__(self, activation):
        super().__init__()
        self.net = mlp([3, 16, 12, 2], activation)
        self.register_buffer("mean", torch.tensor([0.5, -1.0, 20.0]))
        self.register_buffer("std", torch.tensor([1.5, 0.25, 8.0]))
        self.register_buffer("low", torch.tensor([-2.0, -0.5]))
        self.register_buffer("high", torch.tensor([2.0, 1.5]))

    def forward(self, observation):
        squashed = torch.tanh(self.net((observation - self.mean) / self.std))
        return self.low + 0.5 * (squashed + 1.0) * (self.high - self.low)


class SacActor(nn.Module):
    """As in Stable-Baselines3: one trunk, two heads, the spread clamped."""

    def __init__(self):
        super().__init__()
        self.latent_pi = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.mu = nn.Linear(16, 2)
        self.log_std = nn.Linear(16, 2)

    def forward(self, observation):
        latent = self.latent_pi(observation)
        return 2.0 * torch.tanh(self.mu(latent)), torch.clamp(self.log_std(latent), -20, 2)


class PpoActor(nn.Module):
    """As in Stable-Baselines3: tanh layers, a spread that is a parameter."""

    def __init__(self):
        super().__init__()
        self.net = mlp([3, 16, 16, 2], nn.Tanh)
        self.log_std = nn.Parameter(torch.tensor([-0.5, 0.25]))

    def forward(self, observation):
        mean = self.net(observation.flatten(1))
        return mean, self.log_std.expand_as(mean)


class Joined(nn.Module):
    """One output layer for mean and spread, split."""

    def __init__(self):
        super().__init__()
        self.net = mlp([3, 8, 4], nn.ReLU)

    def forward(self, observation):
        mean, log_std = self.net(observation).chunk(2, dim=-1)
        return torch.tanh(mean), log_std.clamp(-20, 2)


class Clipped(nn.Module):
    """VecNormalize clips its observations; here the actions are clipped, too."""

    def __init__(self):
        super().__init__()
        self.net = mlp([3, 16, 2], nn.ReLU)

    def forward(self, observation):
        seen = torch.clamp((observation - 0.25) / 2.0, -3.0, 3.0)
        return torch.clamp(self.net(seen), -2.0, 2.0)


class Pixel(nn.Module):
    """A perceptron of 1 x 1 convolutions: the observation is an image of one pixel."""

    def __init__(self):
        super().__init__()
        self.before = nn.BatchNorm2d(3)
        self.first = nn.Conv2d(3, 16, 1, stride=2)
        self.second = nn.Conv2d(16, 8, kernel_size=(1, 1), bias=False)
        self.last = nn.Conv2d(8, 2, 1, dilation=3)
        self.register_buffer("scale", torch.tensor([2.0, 0.5]).reshape(1, 2, 1, 1))
        with torch.no_grad():
            self.before.running_mean.copy_(torch.tensor([0.5, -1.0, 15.0]))
            self.before.running_var.copy_(torch.tensor([4.0, 0.5, 90.0]))

    def forward(self, observation):
        image = self.before(observation.view(-1, 3, 1, 1))
        hidden = torch.relu(self.second(torch.tanh(self.first(image))))
        return (self.scale * torch.tanh(self.last(hidden))).flatten(1)


class Batched(Pixel):
    """Likewise, with the batch's length from the observation itself."""

    def forward(self, observation):
        image = self.before(observation.reshape(observation.shape[0], 3, 1, 1))
        hidden = torch.relu(self.second(torch.tanh(self.first(image))))
        return (self.scale * torch.tanh(self.last(hidden))).view(observation.shape[0], -1)


class Signal(nn.Module):
    """A perceptron of convolutions over a signal of length 1."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(3, 12, 1), nn.ReLU(), nn.Conv1d(12, 2, 1))

    def forward(self, observation):
        return self.net(observation.unsqueeze(-1)).squeeze(-1)


class Image(nn.Module):
    """It takes and gives images of one pixel."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 12, 1), nn.SiLU(), nn.Conv2d(12, 2, 1))

    def forward(self, observation):
        return torch.tanh(self.net(observation))


def widen(module):
    """Weights far from zero, so that a mistake shows."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(1.5)
    return module


def export(name, module, dynamo, outputs=("action",), dtype=torch.float32, shape=(1, 3), **options):
    module = widen(module).to(dtype).eval()
    path = FOLDER / f"{name}.onnx"
    example = torch.zeros(shape, dtype=dtype)
    names = {"input_names": ["observation"], "output_names": list(outputs)}
    if dynamo:
        torch.onnx.export(module, (example,), path, dynamo=True, verbose=False, **names, **options)
        shrink(path)
    else:
        axes = {} if len(shape) == 1 else {"observation": {0: "batch"}}
        torch.onnx.export(
            module, (example,), path, dynamo=False, dynamic_axes=axes, **names, **options
        )
    reference(name, path, dtype, shape)


def shrink(path):
    """Leaves out what the exporter writes for its own debugging, with this
    machine's paths in it; nodes and weights stay as they are."""
    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    for part in [model, graph, *graph.node, *graph.input, *graph.output, *graph.value_info]:
        part.ClearField("metadata_props")
    for node in graph.node:
        node.ClearField("doc_string")
    path.write_bytes(model.SerializeToString())


def reference(name, path, dtype, shape):
    session = onnxruntime.InferenceSession(str(path))
    generator = np.random.default_rng(0)
    kind = np.float64 if dtype == torch.float64 else np.float32
    with open(FOLDER / f"{name}.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for _ in range(ROWS):
            row = (generator.standard_normal(3) * [2, 1, 10] + [0, -1, 15]).astype(np.float32)
            outputs = session.run(None, {"observation": row.astype(kind).reshape(shape)})
            numbers = np.concatenate([row] + [np.ravel(output) for output in outputs])
            assert all(math.isfinite(x) for x in numbers)
            writer.writerow([repr(float(x)) for x in numbers])


def main():
    torch.manual_seed(0)
    two = ("action", "log_std")
    export("torchscript_relu", Scaled(nn.ReLU), dynamo=False)
    export("torchscript_sigmoid", Scaled(nn.Sigmoid), dynamo=False)
    export("torchscript_opset_9", Scaled(nn.ReLU), dynamo=False, opset_version=9)
    export("torchscript_ppo", PpoActor(), dynamo=False, outputs=two)
    export("torchscript_clipped", Clipped(), dynamo=False)
    export("torchscript_vector", Scaled(nn.Tanh), dynamo=False, shape=(3,))
    export("dynamo_tanh", Scaled(nn.Tanh), dynamo=True, external_data=False)
    export("dynamo_silu", Scaled(nn.SiLU), dynamo=True, external_data=False)
    export("dynamo_sac", SacActor(), dynamo=True, outputs=two, external_data=False)
    export("dynamo_ppo", PpoActor(), dynamo=True, outputs=two, external_data=False)
    export("dynamo_joined", Joined(), dynamo=True, outputs=two, external_data=False)
    export("dynamo_double", Scaled(nn.ReLU), dynamo=True, dtype=torch.float64, external_data=False)
    export("dynamo_external", Scaled(nn.ReLU), dynamo=True, external_data=True)
    export("dynamo_vector", Scaled(nn.Tanh), dynamo=True, shape=(3,), external_data=False)
    export("torchscript_pixel", Pixel(), dynamo=False)
    export("torchscript_signal", Signal(), dynamo=False)
    export("torchscript_image", Image(), dynamo=False, shape=(1, 3, 1, 1))
    export("dynamo_pixel", Pixel(), dynamo=True, external_data=False)
    batch = ({0: torch.export.Dim("batch")},)
    export("dynamo_batched", Batched(), dynamo=True, external_data=False, dynamic_shapes=batch)
    export("dynamo_signal", Signal(), dynamo=True, external_data=False)
    # Written by hambo: HAMBO_WRITE_FIXTURES=1 cargo test --release -p hambo-host onnxruntime_reads_our_files
    for name in ("own_sac", "own_plain"):
        reference(name, FOLDER / f"{name}.onnx", torch.float32, (1, 3))


if __name__ == "__main__":
    main()
