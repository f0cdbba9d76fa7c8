"""Forty controllers as hambo acts them, against onnxruntime on the same files.

    pip install hambo onnx onnxruntime torch stable-baselines3 sb3-contrib keras
    python networks.py                # adds to networks.csv, beside this file, what it does not hold
    python networks.py agents         # of one maker: matlab_graphs, modules, agents, keras_models

Agents of Stable-Baselines3 and sb3-contrib are trained for a few steps and exported by
`hambo export-sb3`; modules go through torch.onnx.export or through the exporter as they are; Keras
writes ONNX itself; graphs as MATLAB's exportONNXNetwork writes them are built by hand. Weights are
enlarged, so that mistakes show. A row is a network: the largest difference over 200 observations,
as a share of half the range of an action, between hambo and onnxruntime, and between onnxruntime
and the same graph in 64 bits.
"""

import csv
import os
import pathlib
import sys
import tempfile
import warnings

os.environ.setdefault("KERAS_BACKEND", "torch")
warnings.filterwarnings("ignore")

import gymnasium  # noqa: E402
import hambo  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from hambo import export_sb3  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from sb3_contrib import TQC, CrossQ  # noqa: E402
from stable_baselines3 import A2C, PPO, SAC, TD3  # noqa: E402
from torch import nn  # noqa: E402

STATES, ACTIONS, ROWS = 4, 2, 200
LOW, HIGH = np.array([-1.0, -0.5]), np.array([2.0, 1.5])
TASK = hambo.Task.from_string(
    f"name = 'robot'\nhorizon = 20\n[state]\nnames = {[f's{i}' for i in range(STATES)]}\n[action]\n"
    f"names = {[f'a{i}' for i in range(ACTIONS)]}\nlow = {LOW.tolist()}\nhigh = {HIGH.tolist()}\n"
    "[reward]\nexpr = '-s0^2'\n[initial]\nkind = 'data'\n"
)


class Robot(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (STATES,), np.float32)
    action_space = gymnasium.spaces.Box(LOW.astype(np.float32), HIGH.astype(np.float32))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.steps = self.np_random.normal(size=STATES).astype(np.float32), 0
        return self.state, {}

    def step(self, action):
        self.steps += 1
        self.state = (0.9 * self.state + 0.1 * action.sum()).astype(np.float32)
        return self.state, -float(self.state[0] ** 2), False, self.steps == 20, {}


def agents(folder):
    """Twelve agents: six algorithms with two networks each."""
    wide, deep = {"net_arch": [32, 32]}, {"net_arch": [16, 16, 16]}
    for kind in (A2C, PPO, SAC, TD3, TQC, CrossQ):
        functions = {"wide": (wide, None), "deep": (deep, nn.ELU if kind in (A2C, PPO) else nn.SiLU)}
        for name, (arch, function) in functions.items():
            kwargs = dict(arch) if function is None else {**arch, "activation_fn": function}
            agent = kind("MlpPolicy", Robot(), policy_kwargs=kwargs, seed=1)
            agent.learn(256 if kind in (A2C, PPO) else 130)
            with torch.no_grad():
                for key, weight in agent.policy.named_parameters():
                    if weight.ndim == 2:
                        weight.mul_(1.5)
            label = f"{kind.__name__.lower()}_{name}"
            saved, path = folder / f"{label}.zip", folder / f"{label}.onnx"
            agent.save(saved)
            export_sb3.export(export_sb3.parse([str(saved), str(path), "--deterministic"]))
            yield "Stable-Baselines3", label, path


def module(function, widths, last=None, normalised=False):
    torch.manual_seed(len(widths) * 7 + sum(widths))
    layers, before = [], STATES
    for width in widths:
        layers.append(nn.Linear(before, width))
        if normalised:
            layers.append(nn.BatchNorm1d(width))
        layers.append(function())
        before = width
    layers.append(nn.Linear(before, ACTIONS))
    layers += [last()] if last else []
    made = nn.Sequential(*layers)
    made(torch.randn(256, STATES))
    return made.eval()


class Scaled(nn.Module):
    """tanh, then the range of the actions, as people write it."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.register_buffer("centre", torch.tensor((HIGH + LOW) / 2, dtype=torch.float32))
        self.register_buffer("reach", torch.tensor((HIGH - LOW) / 2, dtype=torch.float32))

    def forward(self, x):
        return self.centre + self.reach * torch.tanh(self.net(x))


def modules(folder):
    """Sixteen modules of PyTorch: eight by the exporter, eight by torch.onnx.export."""
    functions = [nn.ReLU, nn.LeakyReLU, nn.ELU, nn.Softplus, nn.Tanh, nn.Sigmoid, nn.SiLU, nn.GELU]
    for place, function in enumerate(functions):
        name = function.__name__.lower()
        path = folder / f"module_{name}.onnx"
        last = nn.Tanh if place % 2 else None
        export_sb3.export_module(module(function, [24, 24], last, normalised=place % 3 == 0), path)
        yield "torch.nn.Module", f"module_{name}", path
        path = folder / f"torch_{name}.onnx"
        scaled = Scaled(module(function, [64, 64])).eval()
        rows = torch.zeros(1, STATES)
        torch.onnx.export(scaled, (rows,), path, dynamo=place % 2 == 0, verbose=False)
        yield "torch.onnx.export", f"torch_{name}", path


def keras_models(folder):
    """Six models of Keras."""
    import keras

    keras.utils.set_random_seed(3)
    for function in ("relu", "tanh", "sigmoid", "elu", "softplus", "silu"):
        made = keras.Sequential(
            [
                keras.Input((STATES,)),
                keras.layers.Dense(32, activation=function),
                keras.layers.Dense(32, activation=function),
                keras.layers.Dense(ACTIONS, activation="tanh"),
            ]
        )
        path = folder / f"keras_{function}.onnx"
        made.export(str(path), format="onnx", verbose=False)
        yield "Keras", f"keras_{function}", path


def matlab_graphs(folder):
    """Six graphs as exportONNXNetwork writes them: a normalised input, Gemm, limits at last."""
    chance = np.random.default_rng(5)
    for name, hidden, opset in [
        ("relu", "Relu", 9),
        ("tanh", "Tanh", 9),
        ("sigmoid", "Sigmoid", 9),
        ("elu", "Elu", 13),
        ("leaky", "LeakyRelu", 13),
        ("softplus", "Softplus", 14),
    ]:
        weights, nodes, before = [], [], "input"

        def constant(key, values):
            weights.append(numpy_helper.from_array(np.float32(values), key))
            return key

        nodes.append(helper.make_node("Sub", [before, constant("mean", chance.normal(size=STATES))], ["centred"]))
        spread = constant("std", 0.5 + chance.random(STATES))
        nodes.append(helper.make_node("Div", ["centred", spread], ["normalised"]))
        before, width = "normalised", STATES
        for layer, units in enumerate([40, 40, ACTIONS]):
            matrix = constant(f"W{layer}", 1.5 * chance.normal(size=(units, width)) / width**0.5)
            bias = constant(f"b{layer}", 0.1 * chance.normal(size=units))
            nodes.append(helper.make_node("Gemm", [before, matrix, bias], [f"fc{layer}"], transB=1))
            before, width = f"fc{layer}", units
            if layer < 2:
                nodes.append(helper.make_node(hidden, [before], [f"act{layer}"]))
                before = f"act{layer}"
        nodes.append(helper.make_node("Tanh", [before], ["tanh"]))
        nodes.append(helper.make_node("Mul", ["tanh", constant("scale", [1.5, 1.0])], ["scaled"]))
        nodes.append(helper.make_node("Add", ["scaled", constant("bias", [0.5, 0.5])], ["output"]))
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            nodes,
            "Network",
            [value("input", TensorProto.FLOAT, [1, STATES])],
            [value("output", TensorProto.FLOAT, [1, ACTIONS])],
            weights,
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)
        path = folder / f"matlab_{name}.onnx"
        onnx.save(made, path)
        yield "as MATLAB writes it", f"matlab_{name}", path


def row_by_row(run, rows):
    """Files with a batch of one take one row at a time."""
    return np.concatenate([np.asarray(run(row[None])).reshape(1, -1) for row in rows])


def in_64_bits(path):
    """The graph with wide numbers."""
    model = onnx.load(path)
    wide = lambda array: numpy_helper.from_array(numpy_helper.to_array(array).astype(np.float64), array.name)  # noqa: E731
    for place, weight in enumerate(model.graph.initializer):
        if weight.data_type == TensorProto.FLOAT:
            model.graph.initializer[place].CopyFrom(wide(weight))
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR and attribute.t.data_type == TensorProto.FLOAT:
                attribute.t.CopyFrom(wide(attribute.t))
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.elem_type = TensorProto.DOUBLE
    return ReferenceEvaluator(model)


def largest(a, b):
    return float(np.abs((np.clip(a, LOW, HIGH) - np.clip(b, LOW, HIGH)) / ((HIGH - LOW) / 2)).max())


def made_by(makers, folder):
    """The networks of a maker; none where it is not installed or fails, which is said."""
    try:
        yield from makers(folder)
    except Exception as problem:  # noqa: BLE001: every maker fails in its own way
        print(f"{makers.__name__} end here: {type(problem).__name__}: {problem}")


HEADER = ["maker", "network", "hambo_onnxruntime", "onnxruntime_exact", "hambo_exact"]


def main():
    rows = np.random.default_rng(0).normal(size=(ROWS, STATES)).astype(np.float32)
    kept = pathlib.Path(__file__).with_suffix(".csv")
    if not kept.exists():
        kept.write_text(",".join(HEADER) + "\n")
    with open(kept, newline="") as file:
        found = {row["network"]: row for row in csv.DictReader(file)}
    every = (matlab_graphs, modules, agents, keras_models)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for makers in [one for one in every if one.__name__ in (sys.argv[1:] or [m.__name__ for m in every])]:
            for maker, name, path in made_by(makers, folder):
                if name in found:
                    continue
                session = onnxruntime.InferenceSession(str(path))
                key = session.get_inputs()[0].name
                by_runtime = row_by_row(lambda row: session.run(None, {key: row})[0], rows)
                by_hambo = hambo.actions(TASK, path, rows)
                try:
                    wide = in_64_bits(path)
                    exact = row_by_row(lambda row: wide.run(None, {key: row.astype(np.float64)})[0], rows)
                except Exception as problem:  # noqa: BLE001: the evaluator does not know every operator
                    print(f"{name}: not in 64 bits: {problem}")
                    exact = np.full_like(by_runtime, np.nan)
                pairs = ((by_hambo, by_runtime), (by_runtime, exact), (by_hambo, exact))
                numbers = [f"{largest(*pair):.2e}" for pair in pairs]
                found[name] = dict(zip(HEADER, [maker, name, *numbers]))
                # At once: the work may be interrupted at any time.
                with open(kept, "a", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerow(found[name].values())
                print(*found[name].values(), flush=True)
    worst = max(float(one["hambo_onnxruntime"]) for one in found.values())
    print(f"{len(found)} networks, the largest difference is {worst:.2e} of half an action's range")


if __name__ == "__main__":
    main()
