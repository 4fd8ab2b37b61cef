"""How a running source learns the folder of its checkpoint.

Spark does not tell a Python stream reader its checkpoint, and the reader lives in a process of its own. So
`load` puts a token into the source's options, `start` leaves a note under that token in a folder that both
processes see (both are on the driver's machine), and the reader picks it up before its first offset.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from lakeward.errors import CloudFilesError

__all__ = ["Binding", "claim", "offer", "withdraw"]

_PATIENCE = 120.0


@dataclass(frozen=True)
class Binding:
    """`state` is the source's folder in the checkpoint, `<checkpoint>/sources/<n>`.

    `metadata` is whether the query looks at `_metadata`.
    """

    state: str
    metadata: bool = True


def offer(rendezvous: Path, token: str, bindings: list[Binding]) -> None:
    """Leave notes for the sources with this token, to be claimed in this order."""
    for number, binding in enumerate(bindings):
        draft = rendezvous / f"{token}.draft"
        draft.write_text(json.dumps(asdict(binding)))
        draft.rename(rendezvous / f"{token}.{number:04d}.note")


def pending(rendezvous: Path, token: str) -> list[Path]:
    """Notes that nobody has claimed yet, in order."""
    return sorted(rendezvous.glob(f"{token}.*.note"))


def withdraw(rendezvous: Path, token: str) -> None:
    """Remove notes that nobody will claim any more."""
    for note in pending(rendezvous, token):
        note.unlink(missing_ok=True)


def claim(rendezvous: Path, token: str, *, patience: float = _PATIENCE) -> Binding:
    """Take the next note, waiting for it. Raises CF_NO_CHECKPOINT when none comes."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        for note in pending(rendezvous, token):
            mine = note.with_suffix(f".{os.getpid()}")
            try:
                note.rename(mine)
            except FileNotFoundError:
                continue
            binding = Binding(**json.loads(mine.read_text()))
            mine.unlink()
            return binding
        time.sleep(0.005)
    raise CloudFilesError(
        "CF_NO_CHECKPOINT",
        "The source was not told its checkpoint: the stream was not started by start() or toTable().",
        next_step="Start the stream with df.writeStream…start() or toTable(…).",
    )
