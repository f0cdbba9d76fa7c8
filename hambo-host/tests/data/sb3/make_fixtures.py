"""Trains agents of Stable-Baselines3 and sb3-contrib and writes the files of this folder.

    pip install -r requirements.txt
    python make_fixtures.py

Every agent is trained for seconds, saved, and exported by `scripts/export_sb3.py` as a
user does it. `NAME.onnx` is the file; `agents.json` holds for each of them 20
observations, the actions of agent.predict(…, deterministic=True), and the limits of the
environment's actions. Where a VecNormalize belongs to the agent, observations are those
before it. The script stops if onnxruntime and predict differ by 1e-5.
"""

import copy
import json
import pathlib
import platform
import subprocess
import sys
import tempfile
import warnings
from importlib.metadata import version

import gymnasium
import numpy as np
import onnxruntime
import torch
from gymnasium import spaces
from sb3_contrib import ARS, TQC, TRPO, CrossQ
from stable_baselines3 import A2C, DDPG, PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from torch import nn

FOLDER = pathlib.Path(__file__).parent
SCRIPT = FOLDER / "../../../scripts/export_sb3.py"
ROWS = 20
TOLERANCE = 1e-5
SMALL = {"net_arch": [16, 16]}


class Cart(gymnasium.Env):
    """Four states, two actions, whose limits are not symmetric."""

    far = 0.0

    observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float32)
    action_space = spaces.Box(
        np.array([-1.0, -0.5], np.float32), np.array([2.0, 1.5], np.float32), dtype=np.float32
    )

    def observation(self):
        x, v = self.state
        return np.array([x, v, self.far + (1.0 + 0.2 * self.far) * x, 0.5 * v], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.steps = self.np_random.uniform(-1, 1, 2), 0
        return self.observation(), {}

    def step(self, action):
        x, v = self.state
        push, brake = np.clip(action, self.action_space.low, self.action_space.high)
        self.state = np.array([x + 0.1 * v, v + 0.1 * push - 0.1 * brake * v])
        self.steps += 1
        return self.observation(), -float(x * x + 0.1 * v * v), False, self.steps == 50, {}


def pendulum():
    return gymnasium.make("Pendulum-v1")


def cart():
    return Cart()


def far_cart():
    """With a state that no network takes as it is."""
    environment = Cart()
    environment.far = 100.0
    return environment


OFF_POLICY = {"learning_starts": 100, "batch_size": 64}
SLOW = {"learning_starts": 100, "learning_rate": 2e-4}


def with_activation(activation):
    return SMALL | {"activation_fn": activation}


# Name, algorithm, policy, environment, clip of VecNormalize, steps, arguments.
AGENTS = [
    ("a2c", A2C, "MlpPolicy", pendulum, None, 2000, {"policy_kwargs": SMALL}),
    ("ppo", PPO, "MlpPolicy", cart, None, 4096, {"policy_kwargs": SMALL}),
    ("ppo_gsde", PPO, "MlpPolicy", pendulum, None, 4096, {"use_sde": True, "policy_kwargs": SMALL}),
    ("sac", SAC, "MlpPolicy", cart, None, 600, OFF_POLICY | {"policy_kwargs": SMALL}),
    (
        "sac_gsde",
        SAC,
        "MlpPolicy",
        pendulum,
        None,
        600,
        OFF_POLICY | {"use_sde": True, "policy_kwargs": SMALL},
    ),
    ("td3", TD3, "MlpPolicy", cart, None, 300, SLOW | {"policy_kwargs": SMALL}),
    ("ddpg", DDPG, "MlpPolicy", pendulum, None, 300, SLOW | {"policy_kwargs": SMALL}),
    ("tqc", TQC, "MlpPolicy", cart, None, 400, OFF_POLICY | {"policy_kwargs": SMALL}),
    ("trpo", TRPO, "MlpPolicy", pendulum, None, 2048, {"policy_kwargs": SMALL}),
    ("ars", ARS, "MlpPolicy", cart, None, 4000, {"n_delta": 4, "policy_kwargs": SMALL}),
    # And what may be different about them.
    ("ars_linear", ARS, "LinearPolicy", pendulum, None, 4000, {"n_delta": 4}),
    ("ppo_normalised", PPO, "MlpPolicy", far_cart, 10.0, 4096, {"policy_kwargs": SMALL}),
    (
        "td3_normalised",
        TD3,
        "MlpPolicy",
        far_cart,
        1.5,
        300,
        SLOW | {"policy_kwargs": SMALL},
    ),
    (
        "ppo_gsde_squashed",
        PPO,
        "MlpPolicy",
        cart,
        None,
        4096,
        {
            "use_sde": True,
            "policy_kwargs": SMALL | {"squash_output": True, "activation_fn": nn.SiLU},
        },
    ),
    ("crossq", CrossQ, "MlpPolicy", cart, None, 600, OFF_POLICY | {"policy_kwargs": SMALL}),
    # Activations.
    ("ppo_elu", PPO, "MlpPolicy", cart, None, 4096, {"policy_kwargs": with_activation(nn.ELU)}),
    (
        "a2c_softplus",
        A2C,
        "MlpPolicy",
        pendulum,
        None,
        2000,
        {"policy_kwargs": with_activation(nn.Softplus)},
    ),
    (
        "sac_gelu",
        SAC,
        "MlpPolicy",
        cart,
        None,
        600,
        OFF_POLICY | {"policy_kwargs": with_activation(nn.GELU)},
    ),
    (
        "td3_leaky",
        TD3,
        "MlpPolicy",
        cart,
        None,
        300,
        SLOW | {"policy_kwargs": with_activation(nn.LeakyReLU)},
    ),
]


def observations(make):
    """From random walks, spread a little wider."""
    environment = make()
    environment.action_space.seed(1)
    generator = np.random.default_rng(1)
    rows = []
    for episode in range(ROWS):
        row, _ = environment.reset(seed=episode)
        for _ in range(2 * episode):
            row, *_ = environment.step(environment.action_space.sample())
        rows.append(row * generator.uniform(0.8, 1.3, row.shape))
    return np.array(rows, np.float32)


def train(name, algorithm, policy, make, clip, steps, options):
    environment = DummyVecEnv([make])
    if clip is not None:
        environment = VecNormalize(environment, clip_obs=clip)
    # Agents write into the options that they are given.
    agent = algorithm(policy, environment, seed=0, device="cpu", **copy.deepcopy(options))
    agent.learn(steps)
    return agent, environment


def fixture(folder, name, algorithm, policy, make, clip, steps, options):
    agent, environment = train(name, algorithm, policy, make, clip, steps, options)
    # Weights far from zero, so that a mistake shows; PPO's last layer starts near zero.
    with torch.no_grad():
        for part, parameter in agent.policy.named_parameters():
            if part.startswith("action_net.") and hasattr(agent.policy, "log_std"):
                parameter.mul_(1.0 if agent.use_sde else 8.0)
            elif part.startswith("actor.mu.0.") and agent.use_sde:
                # Some means are beyond gSDE's clip.
                parameter.mul_(5.0)
            elif part.startswith("action_net."):
                parameter.mul_(4.0)
            elif any(word in part for word in ("policy_net", "latent_pi", "actor.mu")):
                parameter.mul_(1.5)
    agent.save(folder / f"{name}.zip")
    output = FOLDER / f"{name}.onnx"
    command = [sys.executable, SCRIPT, folder / f"{name}.zip", output]
    raw = observations(make)
    seen = raw
    if clip is not None:
        environment.save(folder / f"{name}.pkl")
        command += ["--normalise", folder / f"{name}.pkl"]
        seen = environment.normalize_obs(raw)
    actions = agent.predict(seen, deterministic=True)[0]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")

    space = agent.action_space
    session = onnxruntime.InferenceSession(str(output))
    found = np.clip(session.run(["action"], {"observation": raw})[0], space.low, space.high)
    worst = float(np.abs(found - actions).max())
    span = f"actions from {actions.min(0)} to {actions.max(0)}"
    print(f"  onnxruntime within {worst:.1e} of predict, {span}")
    assert worst < TOLERANCE, name
    inside = (actions > space.low) & (actions < space.high)
    assert inside.mean() > 0.3, name
    assert (actions.std(0) > 0.01 * (space.high - space.low)).all(), name
    plain = [[float(x) for x in row] for row in (space.low, space.high)]
    rows = zip(raw.tolist(), actions.tolist())
    return {
        "name": name,
        "algorithm": algorithm.__name__,
        "low": plain[0],
        "high": plain[1],
        "rows": [list(row) for row in rows],
    }


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        agents = [fixture(pathlib.Path(folder), *agent) for agent in AGENTS]
    packages = ["stable-baselines3", "sb3-contrib", "gymnasium", "torch", "numpy", "onnx"]
    versions = [f"Python {platform.python_version()}"] + [f"{p} {version(p)}" for p in packages]
    lines = []
    for agent in agents:
        rows = ",\n      ".join(json.dumps(row) for row in agent.pop("rows"))
        head = json.dumps(agent)[:-1]
        lines.append(f'    {head}, "rows": [\n      {rows}\n    ]}}')
    text = ",\n".join(lines)
    text = f'{{\n  "versions": {json.dumps(", ".join(versions))},\n  "agents": [\n{text}\n  ]\n}}\n'
    assert len(json.loads(text)["agents"]) == len(AGENTS)
    (FOLDER / "agents.json").write_text(text)


if __name__ == "__main__":
    main()
