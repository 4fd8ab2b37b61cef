"""Hints: what explains an error of user code, and what to do about it, for commands and tests alike."""

from __future__ import annotations

from lakeward.hints.missing_inputs import hints_of

__all__ = ["hints_of"]
