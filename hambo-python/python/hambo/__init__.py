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

from . import _inputs
from ._hambo import CheckResult as Result
from ._hambo import Error, Model, Ranking, Task, __version__
from . import _hambo

__all__ = ["Error", "Model", "Ranking", "Result", "Task", "check", "fit", "main", "rank"]


def fit(task, data, model="bnn", seed=0, *, progress=None, **options):
    """Learns a calibrated model of the dynamics from a log, as `hambo fit` does.

    `data`: a file or a list of files (CSV, Parquet, NPZ, HDF5), or arrays by the names of the
    task's columns: a dictionary, a frame of pandas or polars. `model`: "bnn", "ensemble" or "gp".
    `progress`: a function of done, planned and message; False for silence; without it a line on
    a terminal.

    >>> import hambo
    >>> task = hambo.Task.from_file("task.toml")
    >>> model = hambo.fit(task, "log.csv", model="gp", points=40, starts=1)
    >>> said = model.predict([[1.0, 0.0]], [[0.5]])
    >>> said["mean"].shape
    (1, 2)
    """
    words = _inputs.words({"model": model, "seed": seed, **options})
    return _hambo.fit(task, _inputs.log(task, data), words, progress)


def check(task, model, policy, data=None, *, progress=None, **options):
    """The verdict on a controller, as `hambo check` gives it.

    `policy`: an ONNX or TOML file, a gain matrix (a row for every action), or an agent of
    Stable-Baselines3. `data`: the log, as for `fit`.

    >>> import hambo
    >>> task = hambo.Task.from_file("task.toml")
    >>> model = hambo.fit(task, "log.csv", hidden=[16, 16], steps=600, learning_rate=0.01)
    >>> hambo.check(task, model, [[-1.0, -1.0, 0.0]], data="log.csv")
    Traceback (most recent call last):
        ...
    hambo.Error: ...
    """
    return _hambo.check(
        task, model, _inputs.policy(policy), _inputs.log(task, data), (_inputs.words(options), progress)
    )


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
    return _hambo.rank(task, (fitted, log), _inputs.policies(policies), words, progress)


def main(argv=None):
    """The `hambo` command; returns its exit code."""
    words = list(_sys.argv if argv is None else argv)
    if words[1:2] == ["export-sb3"]:
        _sys.argv = ["hambo export-sb3", *words[2:]]
        from . import export_sb3

        return export_sb3.main()
    return _hambo.main(words)
