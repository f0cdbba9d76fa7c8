"""First tasks: of a log as `hambo task new` drafts them, and of an environment of Gymnasium."""

import inspect
import re

from . import _hambo, _inputs

# Steps of random actions by which an environment is known, in all.
MOST_STEPS = 20_000


def from_log(data, reward, actions, name):
    """What `hambo task new` writes, with its reward."""
    files, arrays = _inputs.parts(data)
    return _hambo.Task.draft(files, arrays, (name, list(actions or [])), (reward, None, None, None))


def from_env(env, reward, states, actions, name, episodes, seed):
    """A task of an environment's spaces and limits, and of how it moves under random actions."""
    env, opened = environment(env)
    try:
        low, high = limits(env.action_space, "actions")
        limits(env.observation_space, "observations")
        log = random_log(env, episodes, seed)
        spec = getattr(env, "spec", None)
        horizon = getattr(spec, "max_episode_steps", None)
        documented = documented_names(env, len(log["observations"][0]))
    finally:
        if opened:
            env.close()
    name = name or getattr(spec, "id", None) or type(env).__name__
    own = [f"a{number}" for number in range(len(low))]
    actions = list(actions) if actions else own
    told = (reward, horizon, state_limits(env, log["observations"]), both_finite(low, high))
    plain = [f"s{number}" for number in range(len(log["observations"][0]))]
    wanted = list(states) if states else documented or plain
    try:
        return _hambo.Task.draft(None, columns(log, wanted, actions), (name, actions), told)
    except _hambo.Error:
        # Words of a page are not always names of a task.
        if states or wanted == plain:
            raise
        return _hambo.Task.draft(None, columns(log, plain, actions), (name, actions), told)


def environment(env):
    """An environment, and whether it was opened here."""
    if not isinstance(env, str):
        return env, False
    try:
        import gymnasium
    except ImportError as missing:
        raise _hambo.Error(f"env: {missing}\nhelp: pip install gymnasium") from None
    try:
        return gymnasium.make(env), True
    except Exception as problem:  # noqa: BLE001: every environment fails in its own way
        raise _hambo.Error(f"env: {env}: {problem}\nhelp: give an id of gymnasium, or an environment") from None


def limits(space, what):
    """Least and largest values of a Box of one row."""
    low = getattr(space, "low", None)
    if low is None or len(low.shape) != 1:
        raise _hambo.Error(
            f"env: its {what} are {type(space).__name__}{getattr(space, 'shape', '')}, not a row of numbers\n"
            "help: give an environment of vectors (Box), for example behind FlattenObservation"
        )
    return space.low.tolist(), space.high.tolist()


def both_finite(low, high):
    """Limits of actions; `None` where one is missing: then the log's are taken."""
    import numpy as np

    return (low, high) if np.isfinite(low).all() and np.isfinite(high).all() else None


def random_log(env, episodes, seed):
    """Episodes of random actions."""
    import numpy as np

    log = {key: [] for key in ("observations", "next", "actions", "rewards", "terminated", "truncated", "episode")}
    env.action_space.seed(seed)
    for episode in range(episodes):
        observation, _ = env.reset(seed=seed + episode)
        ends = False
        while not ends and len(log["rewards"]) < MOST_STEPS:
            action = env.action_space.sample()
            after, reward, terminated, truncated, _ = env.step(action)
            row = (observation, after, action, reward, terminated, truncated, episode)
            for key, value in zip(log, row):
                log[key].append(np.array(value))
            observation, ends = after, terminated or truncated
    # What was broken off is no end of the robot's.
    log["truncated"][-1] = np.array(not log["terminated"][-1])
    return {key: np.asarray(rows, dtype=np.float64) for key, rows in log.items()}


def columns(log, states, actions):
    """The log under these names."""
    found = {}
    for key, names, prefix in (
        ("observations", states, ""),
        ("actions", actions, ""),
        ("next", states, "next."),
    ):
        width = log[key].shape[1]
        if len(names) != width:
            raise _hambo.Error(
                f"env: {width} numbers and {len(names)} names: {', '.join(names)}\nhelp: give a name for each"
            )
        found.update({prefix + name: log[key][:, place] for place, name in enumerate(names)})
    found["reward"] = log["rewards"]
    found.update({key: log[key] for key in ("terminated", "truncated", "episode")})
    return [(name, _inputs.array(column)) for name, column in found.items()]


def state_limits(env, observations):
    """The space's own limits where they are finite and hold; `None` if none are."""
    import numpy as np

    low, high = (np.asarray(x, dtype=np.float64) for x in limits(env.observation_space, "observations"))
    # A space of floats without limits has the largest of its numbers.
    holds = (low > -1e30) & (high < 1e30) & (low < high)
    holds &= (observations.min(axis=0) >= low) & (observations.max(axis=0) <= high)
    if not holds.any():
        return None
    return np.where(holds, low, -np.inf).tolist(), np.where(holds, high, np.inf).tolist()


def documented_names(env, width):
    """The names of the table of observations on the environment's page, if they are all there."""
    text = inspect.getdoc(type(getattr(env, "unwrapped", env))) or ""
    rows, header = {}, None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.strip().startswith("|"):
            header = None
        elif cells[0] == "Num":
            header = [cell.lower() for cell in cells]
        elif header and "observation" in header and cells[0].isdigit():
            rows[int(cells[0])] = dict(zip(header, cells))
    if sorted(rows) != list(range(width)):
        return None
    found = []
    for number in range(width):
        row = rows[number]
        short = next((cell for key, cell in row.items() if key.startswith("name")), "NA")
        long = row["observation"]
        name = identifier(long if short in ("NA", "-", "") else short)
        if "velocity" in long.lower() and short not in ("NA", "-", ""):
            name += "_velocity"
        found.append(name)
    return found if len(set(found)) == width and all(found) else None


def identifier(words):
    """Letters, digits and _, a letter first."""
    left = words.split("=")[0].strip() or words
    name = re.sub(r"\W+", "_", left, flags=re.ASCII).strip("_")
    return name if re.match(r"[A-Za-z]", name) else ""
