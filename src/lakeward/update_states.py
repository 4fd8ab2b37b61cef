"""The states in which an update of a pipeline ends, as the API and the event log name them."""

from __future__ import annotations

from typing import Literal, get_args

UpdateState = Literal["COMPLETED", "FAILED", "CANCELED"]
UPDATE_ENDS: tuple[UpdateState, ...] = get_args(UpdateState)
