import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

__version__: str

_Path = str | os.PathLike[str]
_Data = Any
_Policy = Any
# A class or a bar of tqdm is callable or not as its stubs say; the module looks for what it needs.
_Progress = Callable[[int, int, str], object] | bool | Any | None

class Error(Exception): ...

class Task:
    @staticmethod
    def from_file(path: _Path) -> Task: ...
    @staticmethod
    def from_string(text: str) -> Task: ...
    @staticmethod
    def from_log(
        data: _Data,
        reward: str | None = None,
        *,
        actions: Sequence[str] | None = None,
        name: str | None = None,
    ) -> Task: ...
    @staticmethod
    def from_env(
        env: Any,
        reward: str | None = None,
        *,
        states: Sequence[str] | None = None,
        actions: Sequence[str] | None = None,
        name: str | None = None,
        episodes: int = 20,
        seed: int = 0,
    ) -> Task: ...
    def save(self, path: _Path) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def states(self) -> list[str]: ...
    @property
    def actions(self) -> list[str]: ...
    @property
    def horizon(self) -> int: ...
    @property
    def text(self) -> str: ...

class Model:
    @staticmethod
    def from_file(path: _Path) -> Model: ...
    def save(self, path: _Path) -> None: ...
    @property
    def states(self) -> list[str]: ...
    @property
    def actions(self) -> list[str]: ...
    @property
    def warnings(self) -> list[str]: ...
    def predict(
        self, states: npt.ArrayLike, actions: npt.ArrayLike
    ) -> dict[str, npt.NDArray[np.float32]]: ...

class Walked(TypedDict):
    states: npt.NDArray[np.float32]
    actions: npt.NDArray[np.float32]
    rewards: npt.NDArray[np.float32]
    returns: npt.NDArray[np.float32]

class Trajectories(TypedDict):
    neutral: Walked
    worst: Walked

class Truth:
    returns: npt.NDArray[np.float64]
    mean: float
    standard_error: float
    bound: float
    holds: bool

class Result:
    @property
    def bound(self) -> float: ...
    @property
    def verdict(self) -> Literal["deploy", "reject", "abstain"] | None: ...
    @property
    def reasons(self) -> list[str]: ...
    @property
    def estimates(self) -> list[dict[str, Any]]: ...
    @property
    def trajectories(self) -> Trajectories | None: ...
    @property
    def horizon(self) -> int: ...
    @property
    def task(self) -> Task: ...
    def against(self, env: Any, episodes: int = 100, seed: int = 0) -> Truth: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save(self, path: _Path) -> None: ...

class Ranking:
    @property
    def controllers(self) -> list[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save(self, path: _Path) -> None: ...

class Improved:
    @property
    def bound(self) -> float: ...
    @property
    def verdict(self) -> Literal["deploy", "reject", "abstain"] | None: ...
    @property
    def reasons(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save(self, path: _Path) -> None: ...

def fit(
    task: Task,
    data: _Data,
    model: Literal["bnn", "ensemble", "gp"] = "bnn",
    seed: int = 0,
    *,
    progress: _Progress = None,
    **options: Any,
) -> Model: ...
def check(
    task: Task,
    model: Model,
    policy: _Policy,
    data: _Data | None = None,
    *,
    progress: _Progress = None,
    **options: Any,
) -> Result: ...
def actions(task: Task, policy: _Policy, states: npt.ArrayLike) -> npt.NDArray[np.float32]: ...
def rank(
    task: Task,
    policies: Sequence[_Policy] | Mapping[str, _Policy] | _Path,
    data: _Data | None = None,
    model: Model | Literal["bnn", "ensemble", "gp"] = "bnn",
    *,
    progress: _Progress = None,
    **options: Any,
) -> Ranking: ...
def improve(
    task: Task,
    data: _Data,
    model: Model | None = None,
    *,
    progress: _Progress = None,
    **options: Any,
) -> Improved: ...
def main(argv: Sequence[str] | None = None) -> int: ...
