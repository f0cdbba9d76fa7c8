"""Exports the actor of a Stable-Baselines3 or sb3-contrib agent as an ONNX file for hambo.

    pip install numpy onnx
    python export_sb3.py agent.zip actor.onnx
    python export_sb3.py agent.zip actor.onnx --normalise vecnormalize.pkl
    hambo check task.toml --model m.hambo --policy actor.onnx

The script finds the algorithm in the file: A2C, PPO, TRPO, SAC, TQC, CrossQ, TD3, DDPG
and ARS, with gSDE or without. It reads the weights and settings itself and runs no code
from the file, so it needs neither torch, Stable-Baselines3, gymnasium nor, for old
agents, gym and shimmy.

The file's outputs are `action`, in the units of the environment, and `log_std` where the
agent has a plain one: for SAC, TQC and CrossQ before the tanh, for A2C, PPO and TRPO of
the action. The file's property `hambo.head` says which. `--deterministic` leaves
`log_std` out: then hambo checks the action that agent.predict(…, deterministic=True)
gives. TD3, DDPG, ARS and all gSDE agents are exported in this way always; gSDE's noise
depends on the hidden layer, for which hambo has no head.

`--normalise` takes the statistics of a VecNormalize: (x − mean) / std. VecNormalize then
clips at ± clip_obs, and so does the file: the clip is one hidden layer more. `--no-clip`
leaves it out; the script then prints within which observations the file is exact.

A2C, PPO, TRPO and ARS clip their actions to the limits of the environment's actions.
Give the task the same limits; the script prints them. hambo takes hidden layers of ReLU,
LeakyReLU, ELU, Softplus, Tanh, Sigmoid, SiLU or GELU, 7 at most.

Exit code 2, with one line on why, if an agent cannot be exported: discrete actions,
images, dictionaries, recurrent networks, other activations.
"""

import argparse
import base64
import collections
import io
import json
import math
import pickle
import sys
import zipfile

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"export_sb3: {missing}: pip install numpy onnx", file=sys.stderr)
    sys.exit(2)

# How the actor of each algorithm is built.
FAMILIES = {
    "a2c": "gaussian",
    "ppo": "gaussian",
    "trpo": "gaussian",
    "sac": "squashed",
    "tqc": "squashed",
    "crossq": "squashed",
    "td3": "deterministic",
    "ddpg": "deterministic",
    "ars": "ars",
}
# What policy_kwargs leaves out.
USUAL_ACTIVATION = {"gaussian": "Tanh", "squashed": "ReLU", "deterministic": "ReLU", "ars": "ReLU"}
ACTIVATIONS = ("ReLU", "LeakyReLU", "ELU", "Softplus", "Tanh", "Sigmoid", "SiLU", "GELU")
# Names that ONNX writes in another way; with what PyTorch sets unless told, both mean the same.
ONNX_NAMES = {"ReLU": "Relu", "LeakyReLU": "LeakyRelu", "ELU": "Elu"}
MOST_HIDDEN_LAYERS = 7
BATCH_RENORM_EPSILON = 0.001
GSDE_CLIP_MEAN = 2.0
OPSET = 17


class Refused(Exception):
    """Why an agent cannot be exported and what to do, in one line."""


# Pickles, without their code.


class StandIn:
    """Takes the place of every class and function that a pickle names."""

    def __new__(cls, *_arguments, **_keywords):
        return object.__new__(cls)

    def __init__(self, *_arguments, **_keywords):
        pass

    def __call__(self, *_arguments, **_keywords):
        return StandIn()

    def __setstate__(self, state):
        for part in state if isinstance(state, tuple) else (state,):
            if isinstance(part, dict):
                self.__dict__.update(part)

    def __setitem__(self, key, value):
        pass

    def append(self, value):
        pass

    def extend(self, values):
        pass


def own_class(*arguments):
    """A class that was pickled with its code."""
    name = next((a for a in arguments if isinstance(a, str)), "class")
    return type(name, (StandIn,), {"__module__": "__main__"})


def array_from_buffer(buffer, dtype, shape, order):
    return np.frombuffer(buffer, dtype=dtype).reshape(shape, order=order)


def scalar(dtype, data=b""):
    return np.frombuffer(data, dtype=dtype)[0]


KNOWN = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): lambda text, encoding: text.encode(encoding),
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("cloudpickle.cloudpickle", "_make_skeleton_class"): own_class,
    ("cloudpickle.cloudpickle_fast", "_make_skeleton_class"): own_class,
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "bytearray"): bytearray,
}
for core in ("numpy.core", "numpy._core"):
    KNOWN[core + ".multiarray", "_reconstruct"] = np.ndarray.__new__
    KNOWN[core + ".multiarray", "scalar"] = scalar
    KNOWN[core + ".numeric", "_frombuffer"] = array_from_buffer


class Unpickler(pickle.Unpickler):
    """Numbers, arrays and containers as they are; all else becomes a stand-in."""

    def find_class(self, module, name):
        known = KNOWN.get((module, name))
        return known or type(name, (StandIn,), {"__module__": module})


class Weights(Unpickler):
    """The tensors of a file of torch.save()."""

    DTYPES = {
        "FloatStorage": "<f4",
        "DoubleStorage": "<f8",
        "HalfStorage": "<f2",
        "LongStorage": "<i8",
        "IntStorage": "<i4",
        "ShortStorage": "<i2",
        "CharStorage": "<i1",
        "ByteStorage": "<u1",
        "BoolStorage": "?",
    }

    def __init__(self, archive):
        (name,) = [n for n in archive.namelist() if n.split("/")[-1] == "data.pkl"]
        self.archive, self.folder = archive, name[: -len("data.pkl")]
        super().__init__(io.BytesIO(archive.read(name)))

    def find_class(self, module, name):
        if module.startswith("torch") and name in ("_rebuild_tensor_v2", "_rebuild_tensor"):
            return self.tensor
        if module.startswith("torch") and name == "_rebuild_parameter":
            return lambda data, *_more: data
        return super().find_class(module, name)

    def persistent_load(self, identity):
        _, kind, key, _device, _count = identity
        data = self.archive.read(f"{self.folder}data/{key}")
        if kind.__name__ == "BFloat16Storage":
            return (np.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4")
        return np.frombuffer(data, self.DTYPES[kind.__name__])

    @staticmethod
    def tensor(storage, offset, size, stride, *_more):
        places = np.full(size, offset, dtype=np.int64)
        for axis, (length, step) in enumerate(zip(size, stride)):
            shape = [1] * len(size)
            shape[axis] = length
            places += (np.arange(length) * step).reshape(shape)
        return storage[places]


def read_weights(data):
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return dict(Weights(archive).load())
    try:
        import torch
    except ImportError:
        raise Refused(
            "its weights are in PyTorch's old format: pip install torch and export again"
        ) from None
    state = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    return {name: tensor.numpy() for name, tensor in state.items()}


class Agent:
    """What a file of agent.save() holds: settings and weights."""

    def __init__(self, path):
        try:
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
                if "policy.pth" not in names or "data" not in names:
                    raise Refused(
                        "no file of agent.save(): it has no policy.pth and data; give the .zip "
                        "that agent.save() of Stable-Baselines3 or sb3-contrib wrote"
                    )
                self.data = json.loads(archive.read("data"))
                weights = archive.read("policy.pth")
        except (zipfile.BadZipFile, ValueError) as problem:
            raise Refused(
                f"no file of agent.save() ({problem}): give the .zip that agent.save() of "
                "Stable-Baselines3 or sb3-contrib wrote"
            ) from None
        self.weights = read_weights(weights)

    def setting(self, name, default=None):
        """One of the agent's attributes; the default if it cannot be read."""
        value = self.data.get(name, default)
        if isinstance(value, dict) and ":serialized:" in value:
            try:
                return Unpickler(io.BytesIO(base64.b64decode(value[":serialized:"]))).load()
            except Exception:  # noqa: BLE001: a pickle may fail in every way
                return default
        return value

    def policy_kwargs(self):
        value = self.setting("policy_kwargs", {}) if self.data.get("policy_kwargs") else {}
        if self.data.get("policy_kwargs") and not value:
            raise Refused("its policy_kwargs cannot be read: save the agent again")
        return value

    def has(self, start):
        return any(name.startswith(start) for name in self.weights)

    def algorithm(self):
        """The name of the algorithm, from what the file alone has."""
        data = self.data
        if self.has("action_net."):
            if self.has("action_net.0."):
                return "ars"
            if "cg_max_steps" in data:
                return "trpo"
            return "ppo" if "clip_range" in data else "a2c"
        if self.has("actor.log_std"):
            if "top_quantiles_to_drop_per_net" in data:
                return "tqc"
            return "crossq" if any(".ra_mean" in name for name in self.weights) else "sac"
        if self.has("actor.mu."):
            kwargs = self.policy_kwargs()
            return "ddpg" if kwargs.get("n_critics") == 1 else "td3"
        return None


# From an agent to a list of layers.


def class_name(of):
    """`module.Name` of a class that a pickle names."""
    if isinstance(of, type):
        return f"{of.__module__}.{of.__name__}"
    return type(of).__name__


def space_kind(space):
    return type(space).__name__ if isinstance(space, StandIn) else None


def check_spaces(agent):
    actions, observations = agent.setting("action_space"), agent.setting("observation_space")
    kind = space_kind(actions)
    discrete = kind not in (None, "Box", "StandIn") or (
        agent.has("action_net.weight") and "log_std" not in agent.weights
    )
    if discrete or agent.has("q_net.") or agent.has("quantile_net."):
        name = kind if kind not in (None, "Box", "StandIn") else "discrete"
        raise Refused(
            f"its actions are {name}: hambo checks continuous actions only; train an agent "
            "whose action space is a Box"
        )
    if agent.has("lstm_actor."):
        raise Refused(
            "its policy is recurrent (LSTM), which is no perceptron: train one without memory, "
            "for example PPO with MlpPolicy"
        )
    kind = space_kind(observations)
    if kind == "Dict":
        raise Refused(
            "its observations are a dictionary: train with MlpPolicy behind gymnasium's "
            "FlattenObservation"
        )
    if kind not in (None, "Box", "StandIn"):
        raise Refused(f"its observations are {kind}: hambo takes vectors of numbers (Box)")
    shape = getattr(observations, "_shape", None) or getattr(observations, "shape", None) or ()
    features = [name for name in agent.weights if "features_extractor." in name]
    if len(shape) == 3 or any("cnn" in name for name in features):
        raise Refused("its observations are images: train with MlpPolicy on a vector of states")
    kwargs = agent.policy_kwargs()
    extractor = kwargs.get("features_extractor_class")
    if features or (extractor and class_name(extractor).split(".")[-1] != "FlattenExtractor"):
        name = class_name(extractor) if extractor else features[0]
        raise Refused(
            f"it has a features extractor of its own ({name}): train with MlpPolicy and put the "
            "layers into net_arch"
        )


def limits(agent, arguments):
    """The lowest and highest actions, or None."""
    space = agent.setting("action_space")
    low, high = getattr(space, "low", None), getattr(space, "high", None)
    given = (arguments.low, arguments.high)
    if not isinstance(low, np.ndarray) or not isinstance(high, np.ndarray):
        return None if None in given else tuple(np.array(x, dtype=np.float64) for x in given)
    found = (low.astype(np.float64).ravel(), high.astype(np.float64).ravel())
    for name, known, wanted in zip(("low", "high"), found, given):
        if wanted is not None and not np.array_equal(known, np.float32(wanted)):
            raise Refused(f"--{name} is not what the agent says, {numbers(known)}: leave it out")
    return found


def activation_of(agent, family, arguments):
    policy = agent.setting("policy_class")
    name = class_name(policy) if policy is not None else "unknown"
    if not name.startswith(("stable_baselines3.", "sb3_contrib.")):
        if arguments.activation:
            return arguments.activation
        raise Refused(
            f"its policy is a class of your own ({name}): if it is a plain perceptron, say the "
            "activation of its hidden layers, for example --activation Tanh"
        )
    given = agent.policy_kwargs().get("activation_fn")
    found = USUAL_ACTIVATION[family]
    if given is not None:
        module, _, found = class_name(given).rpartition(".")
        found = found if module.startswith("torch.nn.") else "a function of your own"
    if arguments.activation not in (None, found):
        raise Refused(f"its activation is {found}: leave out --activation")
    return found


def sequential(agent, prefix, activation, last=False):
    """The layers of an nn.Sequential; with `last`, no activation follows the last one."""
    modules = collections.defaultdict(dict)
    for name, tensor in agent.weights.items():
        if name.startswith(prefix + "."):
            index, _, key = name[len(prefix) + 1 :].partition(".")
            modules[int(index) if index.isdigit() else -1][key] = tensor
    layers, expected = [], 0
    for index in sorted(modules):
        keys = modules[index]
        weight = keys.get("weight")
        if index == expected and weight is not None and weight.ndim == 2 and len(keys) <= 2:
            layers += [("linear", weight, keys.get("bias")), ("activation", activation)]
            expected = index + 2
        elif index == expected and "ra_mean" in keys:
            layers.append(batch_renorm(agent, keys))
            expected = index + 1
        else:
            raise Refused(
                f"the layers {prefix} are no plain perceptron (at number {index}): hambo takes "
                "linear layers and one activation between them"
            )
    return layers[:-1] if last else layers


def batch_renorm(agent, keys):
    """CrossQ's layers as they are outside training: a factor and an offset."""
    kwargs = agent.policy_kwargs()
    epsilon = kwargs.get("batch_norm_eps", BATCH_RENORM_EPSILON)
    keys = {name: np.asarray(tensor, dtype=np.float64) for name, tensor in keys.items()}
    factor = keys["scale"] / np.sqrt(keys["ra_var"] + epsilon)
    return ("affine", keys["ra_mean"], factor, keys["bias"])


class Actor:
    """An actor as a list of layers, and what follows them."""

    def __init__(self, agent, arguments):
        check_spaces(agent)
        self.notes = []
        found = agent.algorithm()
        self.algorithm = arguments.algorithm or found
        if found is None:
            raise Refused(
                "its actor is none of a known algorithm: this script knows "
                + ", ".join(shown(name) for name in FAMILIES)
            )
        family = FAMILIES[found]
        if FAMILIES[self.algorithm] != family:
            raise Refused(
                f"it is not {shown(self.algorithm)}, but {shown(found)}: leave out --algorithm"
            )
        self.activation = activation_of(agent, family, arguments)
        self.limits = limits(agent, arguments)
        kwargs = agent.policy_kwargs()
        # A clip of the mean before its tanh, and how many of the observation there are.
        self.log_std, self.mean_clip, self.clips = None, None, 0
        spread = None
        if family == "gaussian":
            shared = sequential(agent, "mlp_extractor.shared_net", self.activation)
            own = sequential(agent, "mlp_extractor.policy_net", self.activation)
            self.layers = [*shared, *own, self.linear(agent, "action_net")]
            gsde = bool(agent.setting("use_sde")) or agent.weights["log_std"].ndim == 2
            self.squashed = gsde and bool(kwargs.get("squash_output", False))
            if not gsde:
                spread = agent.weights["log_std"]
        elif family == "squashed":
            gsde = "actor.log_std" in agent.weights
            self.squashed = True
            latent = sequential(agent, "actor.latent_pi", self.activation)
            bounded = "actor.mu.0.weight" in agent.weights
            self.layers = [*latent, self.linear(agent, "actor.mu.0" if bounded else "actor.mu")]
            if bounded:
                self.mean_clip = float(kwargs.get("clip_mean", GSDE_CLIP_MEAN))
            if not gsde:
                spread = self.linear(agent, "actor.log_std")
        elif family == "deterministic":
            gsde, self.squashed = False, True
            self.layers = sequential(agent, "actor.mu", self.activation, last=True)
        else:
            gsde, self.squashed = False, self.squashes(agent, kwargs)
            self.layers = sequential(agent, "action_net", self.activation, last=True)
        self.head(family, gsde, spread, arguments)
        self.check()

    @staticmethod
    def linear(agent, name):
        return ("linear", agent.weights[name + ".weight"], agent.weights.get(name + ".bias"))

    @staticmethod
    def squashes(agent, kwargs):
        """ARS: whether a tanh comes last."""
        if "squash_output" in kwargs:
            return bool(kwargs["squash_output"])
        name = class_name(agent.setting("policy_class")).split(".")[-1]
        known = {"ARSPolicy": True, "ARSLinearPolicy": False}
        if name not in known:
            raise Refused(
                "whether its policy ends in a tanh is not written in it: train with "
                "policy_kwargs=dict(squash_output=…)"
            )
        return known[name]

    def head(self, family, gsde, spread, arguments):
        if spread is not None and not arguments.deterministic:
            self.log_std = spread
        if arguments.stochastic and spread is None:
            why = "gSDE" if gsde else shown(self.algorithm)
            raise Refused(f"{why} has no log_std that hambo knows: leave out --stochastic")
        if gsde and not arguments.deterministic:
            self.notes.append(
                "gSDE: its noise depends on the hidden layer, so the file is deterministic, as "
                "predict(deterministic=True)"
            )
        self.chance = "deterministic"
        if self.log_std is not None:
            self.chance = "gaussian" if family == "gaussian" else "tanh_gaussian"

    def check(self):
        linear = [layer for layer in self.layers if layer[0] == "linear"]
        self.inputs, self.outputs = linear[0][1].shape[1], linear[-1][1].shape[0]
        self.hidden = [layer[1].shape[0] for layer in linear[:-1]]
        if not self.hidden:
            self.activation = None
        elif self.activation not in ACTIVATIONS:
            raise Refused(
                f"its activation is {self.activation}: hambo takes {', '.join(ACTIVATIONS)}; "
                "train with one of them (policy_kwargs=dict(activation_fn=nn.Tanh))"
            )
        if len(self.hidden) > MOST_HIDDEN_LAYERS:
            raise Refused(
                f"it has {len(self.hidden)} hidden layers: hambo takes {MOST_HIDDEN_LAYERS}"
            )
        if self.squashed and self.limits is None:
            raise Refused(
                "the limits of its actions cannot be read: give them, for example --low -2 --high 2"
            )
        if self.limits is not None and any(len(x) != self.outputs for x in self.limits):
            raise Refused(
                f"it has {self.outputs} actions: give as many numbers with --low and --high"
            )
        if self.squashed and not np.isfinite(self.limits).all():
            raise Refused("the limits of its actions are not finite: train with finite ones")

    def room_for_clips(self, clips):
        """Whether hambo takes so many clips inside this network."""
        return len(self.hidden) + clips <= MOST_HIDDEN_LAYERS


def shown(algorithm):
    return {"crossq": "CrossQ"}.get(algorithm, algorithm.upper())


def counted(count, what):
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def numbers(values):
    """As TOML, with as many digits as f32 has."""
    return "[" + ", ".join(str(np.float32(x)) for x in np.ravel(values)) + "]"


def about(values):
    return "[" + ", ".join(f"{x:.4g}" for x in np.ravel(values)) + "]"


class Statistics:
    """The observations' part of a file of VecNormalize.save()."""

    def __init__(self, path, inputs):
        try:
            with open(path, "rb") as file:
                saved = Unpickler(file).load()
            self.used = bool(saved.norm_obs)
            statistics = saved.obs_rms if self.used else None
            self.clip, epsilon = float(saved.clip_obs), float(saved.epsilon)
        except OSError as problem:
            raise Refused(f"{path}: {problem.strerror}") from None
        except Exception:  # noqa: BLE001: a pickle may fail in every way
            raise Refused(f"{path}: no file of VecNormalize.save()") from None
        if not self.used:
            return
        if isinstance(statistics, dict):
            raise Refused(f"{path}: its observations are a dictionary: train on one vector")
        self.mean = np.asarray(statistics.mean, dtype=np.float64).ravel()
        self.std = np.sqrt(np.asarray(statistics.var, dtype=np.float64).ravel() + epsilon)
        if len(self.mean) != inputs:
            raise Refused(
                f"{path}: statistics of {len(self.mean)} observations, and the agent has {inputs}: "
                "give the file that was saved with this agent"
            )


# From layers to a file.


class Graph:
    """Nodes and weights, each under a name of its own."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def constant(self, name, values):
        name = f"{name}_{len(self.weights)}"
        values = np.ascontiguousarray(values, dtype=np.float32)
        if not np.isfinite(values).all():
            raise Refused("a weight is not finite: train again")
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, operator, *inputs, output=None, **attributes):
        name = f"{operator.lower()}_{len(self.nodes)}"
        output = output or name
        self.nodes.append(helper.make_node(operator, inputs, [output], name=name, **attributes))
        return output

    def layer(self, signal, layer, output=None):
        kind, *parts = layer
        if kind == "linear":
            weight, bias = parts
            inputs = [self.constant("weight", weight)]
            if bias is not None:
                inputs.append(self.constant("bias", bias))
            return self.node("Gemm", signal, *inputs, output=output, transB=1)
        if kind == "affine":
            mean, factor, offset = parts
            signal = self.node("Sub", signal, self.constant("mean", mean))
            signal = self.node("Mul", signal, self.constant("factor", factor))
            return self.node("Add", signal, self.constant("offset", offset))
        if parts[0] == "SiLU":
            return self.node("Mul", signal, self.node("Sigmoid", signal))
        if parts[0] == "GELU":
            erf = self.node("Erf", self.node("Div", signal, self.constant("root", math.sqrt(2.0))))
            gate = self.node("Add", erf, self.constant("one", 1.0))
            return self.node("Mul", self.node("Mul", signal, self.constant("half", 0.5)), gate)
        attributes = parts[1] if len(parts) > 1 else {}
        return self.node(ONNX_NAMES.get(parts[0], parts[0]), signal, **attributes)

    def clip(self, signal, low, high, output=None):
        """Both ends are one number, as onnxruntime wants it."""
        ends = (self.constant("low", low), self.constant("high", high))
        return self.node("Clip", signal, *ends, output=output)


def observed(graph, actor, statistics, clip):
    """The observation as the first layer sees it, with notes on the clip."""
    signal = "observation"
    if statistics is None:
        return signal
    if not statistics.used:
        actor.notes.append("VecNormalize does not normalise observations: left out")
        return signal
    signal = graph.node("Sub", signal, graph.constant("mean", statistics.mean))
    signal = graph.node("Div", signal, graph.constant("std", statistics.std))
    if not math.isfinite(statistics.clip):
        return signal
    wanted = clip
    possible = actor.room_for_clips(2 if actor.mean_clip else 1)
    if wanted is None:
        wanted = possible
    if wanted:
        if not possible:
            actor.notes.append(
                f"the clip at ± {statistics.clip:g} standard deviations is one hidden layer more "
                f"than hambo's {MOST_HIDDEN_LAYERS}; export with --no-clip if it is refused"
            )
        actor.clips = 1
        return graph.clip(signal, -statistics.clip, statistics.clip)
    reach = statistics.clip * statistics.std
    actor.notes.append(
        f"VecNormalize's clip at ± {statistics.clip:g} standard deviations is left out: the file "
        f"is exact for observations within {about(statistics.mean - reach)} and "
        f"{about(statistics.mean + reach)}"
    )
    return signal


def build(actor, statistics=None, clip=None):
    """The ONNX model of an actor."""
    graph = Graph()
    signal = observed(graph, actor, statistics, clip)
    plain = not actor.squashed
    for layer in actor.layers[:-1]:
        signal = graph.layer(signal, layer)
    latent = signal
    signal = graph.layer(signal, actor.layers[-1], output="action" if plain else None)
    if actor.squashed:
        low, high = actor.limits
        centre, reach = (high + low) / 2, (high - low) / 2
        # tanh(clip(x, ± c)) = clip(tanh(x), ± tanh(c)): where hambo has no place for the
        # first, it takes the second as the limits of the task.
        inside = actor.room_for_clips(actor.clips + 1)
        if actor.mean_clip and inside:
            signal = graph.clip(signal, -actor.mean_clip, actor.mean_clip)
        signal = graph.node("Tanh", signal)
        if actor.mean_clip and not inside:
            bound = math.tanh(actor.mean_clip)
            signal = graph.clip(signal, -bound, bound)
            actor.limits = (centre - bound * reach, centre + bound * reach)
            actor.notes.append(
                f"gSDE clips its mean at ± {actor.mean_clip:g} before the tanh; hambo takes that "
                "clip as the limits of the task's actions, which must not be wider than below"
            )
        signal = graph.node("Mul", signal, graph.constant("reach", reach))
        graph.node("Add", signal, graph.constant("centre", centre), output="action")
    outputs = ["action"]
    if actor.log_std is not None:
        outputs.append("log_std")
        if isinstance(actor.log_std, tuple):
            spread = graph.layer(latent, actor.log_std)
            graph.clip(spread, -20.0, 2.0, output="log_std")
        else:
            value = np.asarray(actor.log_std, dtype=np.float32).reshape(1, -1)
            graph.node("Constant", output="log_std", value=numpy_helper.from_array(value))
    return finished(graph, actor, outputs)


def finished(graph, actor, outputs):
    def value(name, width, rows="batch"):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, width])

    fixed = isinstance(actor.log_std, np.ndarray)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "actor",
            [value("observation", actor.inputs)],
            [
                value(name, actor.outputs, 1 if name == "log_std" and fixed else "batch")
                for name in outputs
            ],
            graph.weights,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
        producer_name="hambo export_sb3",
    )
    helper.set_model_props(model, {"hambo.head": actor.chance, "agent": actor.algorithm})
    onnx.checker.check_model(model)
    return model


def export(arguments):
    """Writes the file and returns what to tell the user."""
    actor = Actor(Agent(arguments.agent), arguments)
    statistics = None
    if arguments.normalise:
        statistics = Statistics(arguments.normalise, actor.inputs)
    model = build(actor, statistics, arguments.clip)
    onnx.save(model, arguments.output)
    shape = "-".join(str(width) for width in actor.hidden)
    layers = f"{actor.activation} layers {shape}" if shape else "one linear layer"
    lines = [
        f"{arguments.output}: {shown(actor.algorithm)}, {counted(actor.inputs, 'observation')}, "
        f"{layers}, {counted(actor.outputs, 'action')}, {actor.chance}"
    ]
    lines += [f"note: {note}" for note in actor.notes]
    if actor.limits is not None and np.isfinite(actor.limits).all():
        low, high = (numbers(x) for x in actor.limits)
        lines.append(f"the task's action limits: low = {low}, high = {high}")
    return lines


# Modules of PyTorch, for who holds one: `export_module(module, "actor.onnx")`.


class Module:
    """A torch.nn.Module of plain layers, in the order in which they were defined."""

    log_std, chance, algorithm = None, "deterministic", "module"

    def __init__(self, module):
        self.layers = list(plain_layers(module, type(module).__name__))
        linear = [layer for layer in self.layers if layer[0] == "linear"]
        if not linear:
            raise Refused("it has no linear layer: give the actor's network")
        self.inputs, self.outputs = linear[0][1].shape[1], linear[-1][1].shape[0]


# What does nothing outside training.
PASSING = ("Identity", "Dropout", "AlphaDropout", "Flatten")
# Layers that no perceptron has, and what to do instead.
FOREIGN = (
    (
        ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"),
        "remembers: train without memory, or write what it remembers as states of [known] in the task",
    ),
    (
        ("MultiheadAttention", "TransformerEncoder", "TransformerEncoderLayer", "Transformer", "Softmax"),
        "is no part of a perceptron: train linear layers on one vector of states",
    ),
    (
        ("LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm1d"),
        "normalises the values of one layer by each other, for which a device image has no layer: "
        "train without it, or with BatchNorm1d",
    ),
)


def plain_layers(module, place):
    """Layers as those of an agent; a container's parts one after the other."""
    name, own = type(module).__name__, type(module).__module__.startswith("torch.nn.")
    if own and name in PASSING:
        return
    if own and name == "Linear":
        bias = module.bias
        yield ("linear", values(module.weight), None if bias is None else values(bias))
    elif own and name == "BatchNorm1d" and module.running_mean is not None:
        spread = np.sqrt(values(module.running_var, np.float64) + module.eps)
        factor = 1.0 if module.weight is None else values(module.weight, np.float64)
        offset = 0.0 if module.bias is None else values(module.bias, np.float64)
        mean = values(module.running_mean, np.float64)
        yield ("affine", mean, factor / spread, np.broadcast_to(offset, mean.shape))
    elif own and name in ACTIVATIONS:
        yield ("activation", name, settings_of(module, name, place))
    else:
        for names, why in FOREIGN:
            if own and name in names:
                raise Refused(f"its layer {place} ({name}) {why}")
        parts = list(module.named_children())
        loose = next(module.parameters(recurse=False), None)
        if loose is not None or (own and not parts):
            raise Refused(
                f"its layer {place} ({name}) is none that hambo takes: Linear, BatchNorm1d, "
                + ", ".join(ACTIVATIONS)
            )
        for part, child in parts:
            yield from plain_layers(child, f"{place}.{part}")


def settings_of(module, name, place):
    """An activation's own numbers, as ONNX writes them."""
    if name == "LeakyReLU":
        return {"alpha": float(module.negative_slope)}
    if name == "ELU":
        return {"alpha": float(module.alpha)}
    usual = {"Softplus": ("beta", 1), "GELU": ("approximate", "none")}.get(name)
    if usual and getattr(module, usual[0]) != usual[1]:
        raise Refused(f"its layer {place} ({name}) has another {usual[0]} than {usual[1]}")
    return {}


def values(tensor, kind=np.float32):
    return tensor.detach().cpu().numpy().astype(kind)


def export_module(module, path):
    """Writes a module as an ONNX file, if its layers one after the other are all that it does."""
    actor, graph = Module(module), Graph()
    signal = "observation"
    for layer in actor.layers:
        signal = graph.layer(signal, layer)
    graph.node("Identity", signal, output="action")
    model = finished(graph, actor, ["action"])
    check_module(module, model, actor.inputs)
    onnx.save(model, path)


def check_module(module, model, inputs):
    """Refuses a module whose forward() does more than its layers."""
    import torch
    from onnx.reference import ReferenceEvaluator

    rows = np.random.default_rng(0).normal(size=(32, inputs)).astype(np.float32)
    (found,) = ReferenceEvaluator(model).run(["action"], {"observation": rows})
    parameter = next(module.parameters())
    trains = module.training
    module.eval()
    try:
        with torch.no_grad():
            given = torch.as_tensor(rows).to(device=parameter.device, dtype=parameter.dtype)
            wanted = module(given)
    finally:
        module.train(trains)
    if not hasattr(wanted, "detach"):
        raise Refused(
            f"its forward() gives a {type(wanted).__name__}, not one tensor of actions: give the "
            "part that gives the action, or export it with torch.onnx.export"
        )
    wanted = values(wanted, np.float64)
    largest = np.abs(wanted).max(initial=1.0)
    if wanted.shape != found.shape or not np.allclose(found, wanted, rtol=0, atol=1e-5 * largest):
        raise Refused(
            "its forward() does more than its layers one after the other: export it with "
            "torch.onnx.export and give the file"
        )


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        usage="export_sb3.py agent.zip actor.onnx [--normalise vecnormalize.pkl] [options]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="the file of agent.save(), and the file to write",
    )
    parser.add_argument("--algorithm", choices=FAMILIES, help="if the script guesses wrongly")
    parser.add_argument(
        "--normalise", "--normalize", metavar="PKL", help="the file of VecNormalize.save()"
    )
    parser.add_argument(
        "--clip",
        action=argparse.BooleanOptionalAction,
        help="with VecNormalize's clip, or without; by default with it where hambo has room",
    )
    chance = parser.add_mutually_exclusive_group()
    chance.add_argument("--deterministic", action="store_true", help="the mean action alone")
    chance.add_argument(
        "--stochastic", action="store_true", help="with log_std, or not at all; by default if any"
    )
    parser.add_argument(
        "--activation", choices=ACTIVATIONS, help="of the hidden layers of a policy of your own"
    )
    for end in ("low", "high"):
        text = "the limits of the actions, if the file does not tell"
        parser.add_argument(f"--{end}", type=float, nargs="+", metavar="X", help=text)
    found = parser.parse_args(arguments)
    # As it was once called: export_sb3.py ppo agent.zip actor.onnx.
    if len(found.files) == 3 and found.files[0].lower() in FAMILIES:
        found.algorithm = found.files.pop(0).lower()
    if len(found.files) != 2:
        parser.error("give two files: agent.zip actor.onnx")
    found.agent, found.output = found.files
    return found


def main():
    arguments = parse()
    try:
        lines = export(arguments)
    except Refused as problem:
        print(f"export_sb3: {arguments.agent}: {problem}", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"export_sb3: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 2
    except Exception as problem:  # noqa: BLE001: a damaged file may fail in every way
        kind = type(problem).__name__
        print(
            f"export_sb3: {arguments.agent}: the file is damaged or of an unknown kind "
            f"({kind}: {problem}): save the agent again",
            file=sys.stderr,
        )
        return 2
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
