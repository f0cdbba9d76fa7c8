"""What Python's users hold, as the module takes it: logs, controllers, options.

Nothing is judged here: whatever does not fit is refused by the crates, in the command's words.
"""

import os
import tempfile

from . import _hambo


def log(task, data):
    """A log of files, of a dictionary of arrays, or of a frame of pandas or polars."""
    if data is None or isinstance(data, _hambo.Log):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _hambo.Log.from_files(task, [data])
    # Of Arrow; of pandas and polars; of a dictionary.
    columns = getattr(data, "column_names", None)
    if columns is None:
        columns = getattr(data, "columns", None)
    if columns is None and hasattr(data, "keys"):
        columns = data.keys()
    if columns is not None:
        return _hambo.Log.from_arrays(task, [(str(name), array(data[name])) for name in columns])
    if isinstance(data, (list, tuple)) and all(isinstance(x, (str, os.PathLike)) for x in data):
        return _hambo.Log.from_files(task, list(data))
    raise _hambo.Error(
        f"data: {type(data).__name__} is no log\n"
        "help: give a file or a list of files, a dictionary of arrays, or a frame with columns"
    )


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
    """A controller of a file, a gain matrix, or an agent of Stable-Baselines3."""
    if isinstance(given, (str, os.PathLike)):
        return _hambo.Policy.of_file(name or os.fspath(given), given)
    if hasattr(given, "save") and hasattr(given, "policy"):
        return exported(given, name or type(given).__name__)
    if hasattr(given, "__array__") or isinstance(given, (list, tuple)):
        return gain(given, name or "the gain matrix")
    raise _hambo.Error(
        f"policy: {type(given).__name__} is no controller that can be read\n"
        "help: give an ONNX or TOML file, a gain matrix, or an agent of Stable-Baselines3"
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


def exported(agent, name):
    """An agent, by the exporter of `hambo export-sb3`."""
    # The exporter ends the process without onnx: that is for the command.
    try:
        import onnx  # noqa: F401
    except ImportError as missing:
        raise _hambo.Error(f'policy: {missing}\nhelp: pip install "hambo[sb3]"') from None
    from . import export_sb3

    folder = tempfile.mkdtemp(prefix="hambo-")
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
    # It is read once the task is known; the folder goes with the process.
    import atexit
    import shutil

    atexit.register(shutil.rmtree, folder, ignore_errors=True)
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
