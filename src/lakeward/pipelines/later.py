"""Functions of the pipeline API that are known and not there yet: each says so by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from lakeward.errors import PipelineError
from lakeward.pipelines.parameters import FUNCTIONS

__all__ = ["LATER"]


def _refusal(name: str, what: str) -> Callable[..., NoReturn]:
    def not_there_yet(*_: Any, **__: Any) -> NoReturn:
        raise PipelineError("NOT_SUPPORTED", f"{what} (`{name}`) is not there yet.")

    not_there_yet.__name__ = not_there_yet.__qualname__ = name
    return not_there_yet


LATER: dict[str, Callable[..., NoReturn]] = {
    name: _refusal(name, row.lacking) for row in FUNCTIONS if row.lacking for name in row.names
}
