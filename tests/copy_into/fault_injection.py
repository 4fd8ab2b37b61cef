"""Actions between the steps of a load, for crash and concurrency tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from lakeward.copy_into import load_transaction
from lakeward.copy_into.load_transaction import LoadTransaction

Step = Literal["rows written", "history written", "committed"]

_STEPS: tuple[tuple[Any, str, Step], ...] = (
    (LoadTransaction, "write", "rows written"),
    (load_transaction, "append_segment", "history written"),
    (LoadTransaction, "commit", "committed"),
)


def after_each_step(
    action: Callable[[Step], None], set_attribute: Callable[[Any, str, Any], None] = setattr
) -> None:
    """Call `action` with the name of each step of a load once the step is done."""
    for owner, name, step in _STEPS:
        set_attribute(owner, name, _followed_by(getattr(owner, name), step, action))


def _followed_by(function: Callable[..., Any], step: Step, action: Callable[[Step], None]) -> Any:
    def wrapper(*arguments: Any, **named: Any) -> Any:
        result = function(*arguments, **named)
        action(step)
        return result

    return wrapper
