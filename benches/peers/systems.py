"""The systems, the controllers that are evaluated on each, and the one that logs.

The true returns of a system's controllers are spread widely, since ranking equals is no test.
"""

import dataclasses
import pathlib
import tomllib

import numpy as np

from . import policies

HOST = pathlib.Path(__file__).parents[2] / "hambo-host"


@dataclasses.dataclass(frozen=True)
class System:
    name: str
    task_file: pathlib.Path
    behaviour: policies.Policy
    noise: float
    """Standard deviation of the noise on logged actions, as a part of half their range."""
    episodes: int
    policies: list
    reward_lipschitz: float
    """Of the reward in state and action; infinite if the reward jumps, NaN if not known."""
    search: tuple = (8, 20)
    """Trajectories that hambo searches, and the sweeps of each search."""
    disc: float | None = None
    """The longest action, where not the single actions are limited but their length."""

    @property
    def task(self) -> dict:
        return tomllib.loads(self.task_file.read_text())

    @property
    def limits(self):
        action = self.task["action"]
        return np.array(action["low"], float), np.array(action["high"], float)

    @property
    def noise_std(self):
        low, high = self.limits
        return self.noise * (high - low) / 2


def point_safety() -> System:
    heights = [0.0, 0.6, 1.1, 1.2, 1.4, 1.6, 2.2, 2.8]
    return System(
        name="point_safety",
        task_file=HOST / "tasks/point_safety.toml",
        behaviour=policies.waypoints("logs", 1.6),
        noise=0.4,
        episodes=100,
        policies=[policies.waypoints(f"pi_{y}", y) for y in heights],
        reward_lipschitz=np.inf,  # minus 100 at the edge of the dangerous disc
        disc=0.5,
    )


def point_env() -> System:
    def gain(name, k, across=0.0, bias=(0, 0)):
        return policies.linear(name, [[-k, across], [-across, -k]], bias)

    return System(
        name="point_env",
        task_file=HOST / "tasks/point_env.toml",
        behaviour=gain("logs", 0.1),
        noise=0.5,
        episodes=40,
        policies=[
            gain("gain_0.01", 0.01),
            gain("gain_0.04", 0.04),
            gain("gain_0.07", 0.07),
            gain("gain_0.1", 0.1),
            gain("gain_0.2", 0.2),
            gain("gain_0.5", 0.5),
            gain("swirl", 0.05, across=0.1),
            gain("beside", 0.1, bias=(0.5, 0.9)),
        ],
        reward_lipschitz=1.0,
    )


def pendulum() -> System:
    agents = {n: HOST / f"crates/lab/agents/pendulum_{n}.onnx" for n in (3000, 4000, 6000, 20000)}

    def agent(name, n, **changes):
        return policies.network(name, agents[n], 1, **changes)

    return System(
        name="pendulum",
        task_file=HOST / "tasks/pendulum_on_circle.toml",
        behaviour=agent("logs", 4000),
        noise=0.4,
        episodes=50,
        policies=[
            agent("agent_3000", 3000),
            agent("agent_4000", 4000),
            agent("agent_6000", 6000),
            agent("agent_20000", 20000),
            agent("half_torque", 20000, scale=0.5),
            agent("pulls", 20000, offset=0.6),
            agent("pulls_more", 20000, offset=1.2),
            policies.linear("off", [[0, 0, 0]], [0]),
        ],
        search=(6, 6),
        # The angle's square on the circle, and 0.1 omega^2 up to a speed of 8.
        reward_lipschitz=float(np.hypot(2 * np.pi, 1.6)),
    )


def of_agents(name) -> System:
    """A system whose controllers are all `agents/NAME_STEPS.onnx`, and those weakened and biased."""
    files = sorted(HOST.glob(f"crates/lab/agents/{name}_*.onnx"), key=lambda f: int(f.stem.split("_")[-1]))
    if not files:
        raise SystemExit(f"no controllers agents/{name}_STEPS.onnx: train some by `hambo env train {name}`")
    task_file = HOST / f"tasks/{name}.toml"
    actions = len(tomllib.loads(task_file.read_text())["action"]["names"])

    def agent(label, file, **changes):
        return policies.network(label, file, actions, **changes)

    changed = [("weak_0.8", 0.8, 0.0), ("weak_0.6", 0.6, 0.0), ("weak_0.4", 0.4, 0.0), ("off", 0.0, 0.0)]
    changed += [("pulls_0.2", 1.0, 0.2), ("pulls_0.4", 1.0, 0.4)]
    return System(
        name=name,
        task_file=task_file,
        behaviour=agent("logs", files[len(files) // 2]),
        noise=0.2,
        episodes=50,
        policies=[agent(f.stem, f) for f in files]
        + [agent(label, files[-1], scale=s, offset=o) for label, s, o in changed],
        search=(6, 6),
        reward_lipschitz=np.nan,
    )


SYSTEMS = {"point_safety": point_safety, "point_env": point_env, "pendulum": pendulum}


def named(name) -> System:
    return SYSTEMS[name]() if name in SYSTEMS else of_agents(name)
