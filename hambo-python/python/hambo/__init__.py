"""Conservative offline policy evaluation: how badly could a controller do, by a log alone?

>>> import hambo
>>> task = hambo.Task.from_file("task.toml")
>>> model = hambo.fit(task, "log.csv", hidden=[16, 16], steps=600, learning_rate=0.01)
>>> result = hambo.check(task, model, "pd.toml", data="log.csv", effort="quick", trajectories=100)
>>> result.verdict in ("deploy", "reject", "abstain")
True
>>> result.bound == result.to_dict()["bound"]
True

Options are those of the command (`hambo fit --help`), with `_` for `-`. The module reads no
`hambo.toml`.
"""

import sys as _sys

from . import _hambo, _inputs
from ._hambo import CheckResult as Result
from ._hambo import Error, Improved, Model, Ranking, Task, __version__
from ._progress import told as _told

__all__ = [
    "Error",
    "Improved",
    "Model",
    "Ranking",
    "Result",
    "Task",
    "actions",
    "check",
    "fit",
    "improve",
    "main",
    "rank",
]


def fit(task, data, model="bnn", seed=0, *, progress=None, **options):
    """Learns a calibrated model of the dynamics from a log, as `hambo fit` does.

    `data`: a file or a list of files (CSV, Parquet, NPZ, HDF5), or arrays by the names of the
    task's columns: a dictionary, a frame of pandas or polars; a data set of Minari, or its id.
    `model`: "bnn", "ensemble" or "gp". `progress`: a function of done, planned and message; True
    or `tqdm.tqdm` for a bar; False for silence; without it a line on a terminal.

    >>> import hambo
    >>> task = hambo.Task.from_file("task.toml")
    >>> model = hambo.fit(task, "log.csv", model="gp", points=40, starts=1)
    >>> said = model.predict([[1.0, 0.0]], [[0.5]])
    >>> said["mean"].shape
    (1, 2)
    """
    words = _inputs.words({"model": model, "seed": seed, **options})
    log = _inputs.log(task, data)
    with _told(progress) as told:
        return _hambo.fit(task, log, words, told)


def check(task, model, policy, data=None, *, progress=None, **options):
    """The verdict on a controller, as `hambo check` gives it.

    `policy`: an ONNX or TOML file, a gain matrix (a row for every action), an agent of
    Stable-Baselines3, a `torch.nn.Module` of plain layers, or what `improve` gave. `data`: the
    log, as for `fit`.

    >>> import hambo
    >>> task = hambo.Task.from_file("task.toml")
    >>> model = hambo.fit(task, "log.csv", hidden=[16, 16], steps=600, learning_rate=0.01)
    >>> hambo.check(task, model, [[-1.0, -1.0, 0.0]], data="log.csv")
    Traceback (most recent call last):
        ...
    hambo.Error: ...
    """
    words, read = _inputs.words(options), _inputs.policy(policy)
    log = _inputs.log(task, data)
    with _told(progress) as told:
        return _hambo.check(task, model, read, log, (words, told))


def actions(task, policy, states):
    """What a controller does in rows of states, without chance: as check and device evaluate it.

    >>> import hambo
    >>> task = hambo.Task.from_file("task.toml")
    >>> hambo.actions(task, [[-1.0, -0.5]], [[0.25, 0.5], [9.0, 0.0]])
    array([[-0.5],
           [-1. ]], dtype=float32)
    """
    return _inputs.policy(policy).actions(task, states)


def rank(task, policies, data=None, model="bnn", *, progress=None, **options):
    """Which of several controllers to try first, as `hambo rank` says.

    `policies`: a list as for `check`, or a dictionary by name. `model`: a fitted model, or the
    kind of one that is fitted to `data`.
    """
    fitted = model if isinstance(model, Model) else None
    if fitted is None:
        options = {"fit": model, **options}
    words = _inputs.words(options)
    log = _inputs.log(task, data)
    if fitted is None and log is None:
        raise Error("neither a model nor data: there is nothing to judge the controllers by\n"
                    "help: give the log as data, or a model of hambo.fit")
    read = _inputs.policies(policies)
    with _told(progress) as told:
        return _hambo.rank(task, (fitted, log), read, words, told)


def improve(task, data, model=None, *, progress=None, **options):
    """A controller with the best worst case, from a log alone, as `hambo improve` learns it.

    `model`: a fitted one; without it one is fitted to `data` as the command does. What comes back
    has `bound`, `verdict` and `reasons`, is a `policy` for `check` and `rank`, and is saved as an
    ONNX file.

    >>> import hambo
    >>> task = hambo.Task.from_file("task.toml")
    >>> model = hambo.fit(task, "log.csv", hidden=[16, 16], steps=600, learning_rate=0.01)
    >>> better = hambo.improve(task, "log.csv", model, rounds=1, trajectories=50, effort="quick")
    >>> better.save("better.onnx")
    """
    words = _inputs.words(options)
    log = _inputs.log(task, data)
    if log is None:
        raise Error("data: a controller is learned from a log\nhelp: give the log")
    with _told(progress) as told:
        return _hambo.improve(task, log, model, words, told)


def main(argv=None):
    """The `hambo` command; returns its exit code."""
    words = list(_sys.argv if argv is None else argv)
    if words[1:2] == ["export-sb3"]:
        _sys.argv = ["hambo export-sb3", *words[2:]]
        from . import export_sb3

        return export_sb3.main()
    return _hambo.main(words)
