"""Parts of the pipeline API that are known and not there yet: each says so by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from lakeward.errors import PipelineError

__all__ = ["LATER"]

_NAMES = {
    "create_auto_cdc_flow": "AUTO CDC",
    "apply_changes": "AUTO CDC",
    "create_auto_cdc_from_snapshot_flow": "AUTO CDC from snapshots",
    "apply_changes_from_snapshot": "AUTO CDC from snapshots",
    "create_sink": "A sink",
    "foreach_batch_sink": "A foreach-batch sink",
    "update_flow": "An update flow",
    "replace_flow": "A replace flow",
    "on_event_hook": "An event hook",
}


def _refusal(name: str, what: str) -> Callable[..., NoReturn]:
    def not_there_yet(*_: Any, **__: Any) -> NoReturn:
        raise PipelineError("NOT_SUPPORTED", f"{what} (`{name}`) is not there yet.")

    not_there_yet.__name__ = not_there_yet.__qualname__ = name
    return not_there_yet


LATER: dict[str, Callable[..., NoReturn]] = {name: _refusal(name, what) for name, what in _NAMES.items()}
