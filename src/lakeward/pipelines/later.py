"""Functions of the pipeline API that are known and not there yet: each says so by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines.outside import is_outside
from lakeward.pipelines.parameters import FUNCTIONS

__all__ = ["LATER"]


def _refusal(name: str, what: str) -> Callable[..., Any]:
    def not_there_yet(*given: Any, **_: Any) -> Any:
        if is_outside():
            # As a decorator it gives the function back; what it gives otherwise nobody looks at.
            return given[0] if given and callable(given[0]) else (lambda function: function)
        raise PipelineError("NOT_SUPPORTED", f"{what} (`{name}`) is not there yet.")

    not_there_yet.__name__ = not_there_yet.__qualname__ = name
    return not_there_yet


LATER: dict[str, Callable[..., Any]] = {
    name: _refusal(name, row.lacking) for row in FUNCTIONS if row.lacking for name in row.names
}
