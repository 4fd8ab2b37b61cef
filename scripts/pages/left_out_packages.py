"""The documentation's table of what is left out, made from the table that decides it."""

from __future__ import annotations

from lakeward.environments.provided_packages import STAND_INS

__all__ = ["as_markdown"]


def as_markdown() -> str:
    """Return one row a package: why it is left out, and what is installed instead."""
    lines = ["| left out | why | instead |", "|---|---|---|"]
    lines += [
        f"| `{each.name}` | {each.why} | {', '.join(f'`{name}`' for name in each.instead)} |"
        for each in STAND_INS.values()
    ]
    return "\n".join(lines) + "\n"
