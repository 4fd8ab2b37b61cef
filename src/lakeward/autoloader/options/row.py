"""One row of the table of options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Option", "Verdict"]

Verdict = Literal["supported", "accepted"]
Kind = Literal["string", "bool", "int", "bytes", "interval", "list", "ddl", "path", "choice", "timestamp"]


@dataclass(frozen=True)
class Option:
    """One row: `key` as the documentation spells it, `default` as text (None: no default).

    `verdict`: supported; accepted (does nothing here, one warning says so).
    `secret` values never appear in a message. `formats` names the formats that know the key; empty: all.
    """

    key: str
    kind: Kind = "string"
    default: str | None = None
    verdict: Verdict = "supported"
    note: str = ""
    choices: tuple[str, ...] = ()
    secret: bool = False
    formats: tuple[str, ...] = ()
