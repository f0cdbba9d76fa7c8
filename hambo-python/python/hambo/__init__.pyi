import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__version__: str

_Path = str | os.PathLike[str]
_Data = Any
_Policy = Any
_Progress = Callable[[int, int, str], object] | Literal[False] | None

class Error(Exception): ...

class Task:
    @staticmethod
    def from_file(path: _Path) -> Task: ...
    @staticmethod
    def from_string(text: str) -> Task: ...
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

class Result:
    @property
    def bound(self) -> float: ...
    @property
    def verdict(self) -> Literal["deploy", "reject", "abstain"] | None: ...
    @property
    def reasons(self) -> list[str]: ...
    @property
    def estimates(self) -> list[dict[str, Any]]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save(self, path: _Path) -> None: ...

class Ranking:
    @property
    def controllers(self) -> list[dict[str, Any]]: ...
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
def rank(
    task: Task,
    policies: Sequence[_Policy] | Mapping[str, _Policy] | _Path,
    data: _Data | None = None,
    model: Model | Literal["bnn", "ensemble", "gp"] = "bnn",
    *,
    progress: _Progress = None,
    **options: Any,
) -> Ranking: ...
def main(argv: Sequence[str] | None = None) -> int: ...
