"""Sentences that several tables share."""

from __future__ import annotations

NOTHING = "Nothing to do."
SERVED = "Nothing to do: lakeward serves it."


def sentence(text: str) -> str:
    """Return the note of a table as a sentence: a capital first, a full stop last."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".") if text else ""
