"""Controllers: as the file that hambo reads, and as a function of numpy arrays.

Fitted Q evaluation and importance sampling ask for the action at logged states, so each
controller exists twice. `agrees` holds one against the other.
"""

import dataclasses
import pathlib
import shutil
from typing import Callable

import numpy as np


@dataclasses.dataclass(frozen=True)
class Policy:
    """A deterministic controller."""

    name: str
    text: str
    """The policy file."""
    act: Callable[[np.ndarray], np.ndarray]
    """States (rows x states) to actions before the limits (rows x actions)."""
    lipschitz: float
    """A Lipschitz constant of the action in the state; infinite if the action jumps."""
    files: tuple = ()
    """Files that lie beside the policy file."""

    def write(self, folder: pathlib.Path) -> pathlib.Path:
        path = folder / f"{self.name}.toml"
        path.write_text(self.text)
        for file in self.files:
            shutil.copy(file, folder)
        return path


def linear(name, gain, bias) -> Policy:
    gain, bias = np.array(gain, float), np.array(bias, float)
    text = f'kind = "linear"\ngain = {gain.tolist()}\nbias = {bias.tolist()}\n'
    return Policy(name, text, lambda s: s @ gain.T + bias, float(np.linalg.norm(gain, 2)))


def waypoints(name, y, speed=0.5) -> Policy:
    """Over (0, y) to (2, 0), as tasks/pi_1.6.toml. Its action jumps where x = 0."""
    text = (
        f'kind = "waypoints"\nspeed = {speed}\nlegs = [\n'
        f'    {{ target = [0, {y}], while = "x", below = 0 }},\n    {{ target = [2, 0] }},\n]\n'
    )

    def act(states):
        target = np.where(states[:, :1] < 0, [[0.0, y]], [[2.0, 0.0]])
        way = target - states
        length = np.linalg.norm(way, axis=1, keepdims=True)
        return way * np.minimum(1, speed / np.maximum(length, 1e-12))

    return Policy(name, text, act, np.inf)


def network(name, file, actions, scale=1.0, offset=0.0) -> Policy:
    """An ONNX file whose output is multiplied and shifted."""
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options)
    entry = session.get_inputs()[0].name
    text = (
        f'kind = "onnx"\nfile = "{pathlib.Path(file).name}"\n'
        f"action_scale = {[scale] * actions}\naction_offset = {[offset] * actions}\n"
    )

    def act(states):
        output = session.run(None, {entry: states.astype(np.float32)})[0]
        return scale * output.astype(float) + offset

    # ReLU and tanh do not steepen, so the product of the layers' norms is a constant.
    arrays = [onnx.numpy_helper.to_array(w) for w in onnx.load(file).graph.initializer]
    norms = [np.linalg.norm(w, 2) for w in arrays if w.ndim == 2]
    scales = [np.abs(w).max() for w in arrays if w.ndim < 2 and w.size == actions][-1:]
    return Policy(name, text, act, float(abs(scale) * np.prod(norms + scales)), (file,))


def agrees(policy: Policy, log, low, high) -> float:
    """The largest difference to the logged actions of a rollout without noise."""
    return float(np.abs(np.clip(policy.act(log.states), low, high) - log.actions).max())
