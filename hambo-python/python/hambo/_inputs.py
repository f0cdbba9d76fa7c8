"""What Python's users hold, as the module takes it: logs, controllers, options.

Nothing is judged here: whatever does not fit is refused by the crates, in the command's words.
"""

import os
import re
import tempfile

from . import _hambo


def log(task, data):
    """A log of files, of a dictionary of arrays, of a frame, or of a data set of Minari."""
    if data is None or isinstance(data, _hambo.Log):
        return data
    files, arrays = parts(data)
    return _hambo.Log.from_arrays(task, arrays) if files is None else _hambo.Log.from_files(task, files)


def parts(data):
    """Files, or `None` and arrays by their names."""
    if isinstance(data, str) and not os.path.exists(data) and MINARI_ID.fullmatch(data):
        data = minari_data(data)
    if isinstance(data, (str, os.PathLike)):
        return [os.fspath(data)], []
    if hasattr(data, "iterate_episodes"):
        return None, minari_arrays(data)
    # Of Arrow; of pandas and polars; of a dictionary.
    columns = getattr(data, "column_names", None)
    if columns is None:
        columns = getattr(data, "columns", None)
    if columns is None and hasattr(data, "keys"):
        columns = data.keys()
    if columns is not None:
        return None, [(str(name), array(data[name])) for name in columns]
    if isinstance(data, (list, tuple)) and all(isinstance(x, (str, os.PathLike)) for x in data):
        return [os.fspath(x) for x in data], []
    raise _hambo.Error(
        f"data: {type(data).__name__} is no log\n"
        "help: give a file or a list of files, a dictionary of arrays, a frame with columns, or a data "
        "set of Minari"
    )


# As `mujoco/reacher/expert-v0`.
MINARI_ID = re.compile(r"(?:[\w-]+/)*[\w-]+-v\d+")


def minari_data(name):
    """A data set of Minari by its id, which is fetched if it is not on this machine."""
    try:
        import minari
    except ImportError as missing:
        raise _hambo.Error(
            f"data: {name} is no file, and to fetch it as a data set: {missing}\n"
            "help: give a file, or pip install minari"
        ) from None
    try:
        return minari.load_dataset(name, download=True)
    except Exception as problem:  # noqa: BLE001: of the network, of the archive
        raise _hambo.Error(f"data: {name}: {problem}\nhelp: give a file, or an id of Minari") from None


def minari_arrays(data):
    """All episodes of a data set, one after the other, by D4RL's keys."""
    import numpy as np

    keys = ("observations", "actions", "next_observations", "rewards", "terminals", "timeouts", "episodes")
    found = {key: [] for key in keys}
    for number, one in enumerate(data.iterate_episodes()):
        for what in ("observations", "actions"):
            if not hasattr(getattr(one, what), "shape"):
                raise _hambo.Error(
                    f"data: its {what} are a {type(getattr(one, what)).__name__}, not rows of numbers\n"
                    "help: flatten them, and give a dictionary of arrays"
                )
        steps = len(one.actions)
        if len(one.observations) != steps + 1:
            raise _hambo.Error(
                f"data, episode {number}: {len(one.observations)} observations for {steps} actions; an "
                "episode needs one observation more than actions\nhelp: write the episode anew"
            )
        rows = (one.observations[:-1], one.actions, one.observations[1:], one.rewards)
        rows += (one.terminations, one.truncations, np.full(steps, float(number), np.float32))
        for key, part in zip(keys, rows):
            found[key].append(part)
    if not found["actions"]:
        raise _hambo.Error("data: the data set has no episode\nhelp: give another one")
    return [(key, array(np.concatenate(parts))) for key, parts in found.items()]


def array(column):
    """Floats in C order, where they lie if they are so already; words as a list."""
    import numpy as np

    found = np.asarray(column)
    if found.dtype.kind in "OUST":
        return [str(word) for word in found.tolist()]
    if found.dtype.kind in "mM":
        return found.astype("datetime64[ns]" if found.dtype.kind == "M" else "timedelta64[ns]").astype(
            np.float64
        ) * 1e-9
    narrow = found.dtype.kind in "bf" and found.dtype.itemsize <= 4 or found.dtype.itemsize <= 2
    return np.ascontiguousarray(found, dtype=np.float32 if narrow else np.float64)


def policy(given, name=None):
    """A controller of a file, a gain matrix, an agent or a module, or one that was learned."""
    if isinstance(given, (str, os.PathLike)):
        return _hambo.Policy.of_file(name or os.fspath(given), given)
    if isinstance(given, _hambo.Improved):
        return given.policy(name)
    if hasattr(given, "named_children") and hasattr(given, "state_dict"):
        return of_module(given, name or type(given).__name__)
    if hasattr(given, "save") and hasattr(given, "policy"):
        return exported(given, name or type(given).__name__)
    if hasattr(given, "__array__") or isinstance(given, (list, tuple)):
        return gain(given, name or "the gain matrix")
    raise _hambo.Error(
        f"policy: {type(given).__name__} is no controller that can be read\n"
        "help: give an ONNX or TOML file, a gain matrix, an agent of Stable-Baselines3 or a torch.nn.Module"
    )


def gain(matrix, name):
    """action = gain · state, clipped to the task's limits."""
    import numpy as np

    try:
        rows = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
    except (TypeError, ValueError) as problem:
        raise _hambo.Error(f"{name}: {problem}\nhelp: give rows of numbers, a row for every action") from None
    lines = ", ".join("[" + ", ".join(repr(float(x)) for x in row) + "]" for row in np.atleast_2d(rows))
    bias = ", ".join("0.0" for _ in rows)
    return _hambo.Policy.of_text(name, f'kind = "linear"\ngain = [{lines}]\nbias = [{bias}]\n')


def exporter():
    """The exporter of `hambo export-sb3`."""
    # It ends the process without onnx: that is for the command.
    try:
        import onnx  # noqa: F401
    except ImportError as missing:
        raise _hambo.Error(f'policy: {missing}\nhelp: pip install "hambo[sb3]"') from None
    from . import export_sb3

    return export_sb3


def scratch():
    """A folder for a controller that is read once the task is known; it goes with the process."""
    import atexit
    import shutil

    folder = tempfile.mkdtemp(prefix="hambo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def exported(agent, name):
    """An agent, by the exporter."""
    export_sb3, folder = exporter(), scratch()
    saved, actor = os.path.join(folder, "agent.zip"), os.path.join(folder, "actor.onnx")
    agent.save(saved)
    words = [saved, actor]
    normalise = getattr(agent, "get_vec_normalize_env", lambda: None)()
    if normalise is not None:
        statistics = os.path.join(folder, "vecnormalize.pkl")
        normalise.save(statistics)
        words += ["--normalise", statistics]
    try:
        export_sb3.export(export_sb3.parse(words))
    except export_sb3.Refused as problem:
        raise _hambo.Error(f"policy: {problem}") from None
    return _hambo.Policy.of_file(name, actor)


def of_module(module, name):
    """A module of PyTorch, by the exporter."""
    export_sb3 = exporter()
    actor = os.path.join(scratch(), "actor.onnx")
    try:
        export_sb3.export_module(module, actor)
    except export_sb3.Refused as problem:
        raise _hambo.Error(f"policy: {problem}") from None
    return _hambo.Policy.of_file(name, actor)


def policies(given):
    """Several controllers: files by their names, or a dictionary by its keys."""
    if hasattr(given, "items"):
        return [policy(one, str(name)) for name, one in given.items()]
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    named = []
    for one in given:
        file = isinstance(one, (str, os.PathLike))
        named.append(policy(one, os.path.basename(one) if file else None))
    return named


def words(options):
    """Options as the command line has them: delta=0.1 is --delta=0.1, each=True is --each."""
    found = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(flag)
        elif isinstance(value, (list, tuple)):
            found.append(f"{flag}=" + ",".join(str(one) for one in value))
        else:
            found.append(f"{flag}={value}")
    return found
