"""Event hooks: functions of the user that hear of every event, one after the other (spec §5.5).

A hook that fails changes nothing in the update. One that has failed more often in a row than it may is
not called again before the next update.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from lakeward.pipelines.elements import Hook

__all__ = ["Hooks"]

log = logging.getLogger("lakeward.pipelines")

Event = dict[str, Any]


class Hooks:
    """The hooks of one update. Events that came before they were known are told when they are."""

    def __init__(self, note: Callable[[Hook, str, str], None]) -> None:
        self._note = note
        self._failed: dict[int, int] = {}
        self._hooks: Sequence[Hook] | None = None
        self._early: list[Event] = []
        self._telling = False

    def set(self, hooks: Sequence[Hook]) -> None:
        """These are the hooks of the pipeline."""
        self._hooks = hooks
        early, self._early = self._early, []
        for event in early:
            self.tell(event)

    def tell(self, event: Event) -> None:
        """Call every hook that is still enabled."""
        if self._hooks is None:
            self._early.append(event)
            return
        if self._telling:
            # What is noted about a hook is no event for hooks.
            return
        self._telling = True
        try:
            for index, hook in enumerate(self._hooks):
                self._call(index, hook, event)
        finally:
            self._telling = False

    def _call(self, index: int, hook: Hook, event: Event) -> None:
        failed = self._failed.get(index, 0)
        if hook.failures_allowed is not None and failed > hook.failures_allowed:
            return
        try:
            hook.function(event)
        except Exception as error:  # noqa: BLE001  # a user's function may raise anything
            self._failed[index] = failed + 1
            disabled = hook.failures_allowed is not None and failed + 1 > hook.failures_allowed
            text = f"{type(error).__name__}: {error}"
            log.warning("The event hook `%s` failed: %s", hook.name, text)
            self._note(hook, "DISABLED" if disabled else "FAILED", text)
        else:
            self._failed[index] = 0
