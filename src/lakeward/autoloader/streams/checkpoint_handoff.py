"""Hands the checkpoint location of a started query over to its source reader.

Spark does not pass the checkpoint to a Python stream reader, and the reader runs in a separate process.
`load` puts a token into the source's options, `start` writes a file named by that token into a directory on
the driver's machine, and the reader claims it before its first offset.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from lakeward.errors import CloudFilesError


@cache
def handoff_directory() -> Path:
    """Return a directory of this process, removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="lakeward-cloudfiles-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


_TIMEOUT = 120.0


@dataclass(frozen=True)
class CheckpointOffer:
    """The state directory `<checkpoint>/sources/<n>`, and whether the query references `_metadata`."""

    state: str
    metadata: bool = True


def offer_checkpoints(handoff_dir: Path, token: str, bindings: list[CheckpointOffer]) -> None:
    """Write offers for the sources with this token; they are claimed in this order."""
    for number, binding in enumerate(bindings):
        draft = handoff_dir / f"{token}.draft"
        draft.write_text(json.dumps(asdict(binding)))
        draft.rename(handoff_dir / f"{token}.{number:04d}.note")


def pending_offers(handoff_dir: Path, token: str) -> list[Path]:
    """Return unclaimed offers in order."""
    return sorted(handoff_dir.glob(f"{token}.*.note"))


def withdraw_offers(handoff_dir: Path, token: str) -> None:
    """Remove unclaimed offers."""
    for note in pending_offers(handoff_dir, token):
        note.unlink(missing_ok=True)


def claim_checkpoint(handoff_dir: Path, token: str, *, patience: float = _TIMEOUT) -> CheckpointOffer:
    """Claim the next offer, waiting for it; raise CF_NO_CHECKPOINT on timeout."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        for note in pending_offers(handoff_dir, token):
            mine = note.with_suffix(f".{os.getpid()}")
            try:
                note.rename(mine)
            except FileNotFoundError:
                continue
            binding = CheckpointOffer(**json.loads(mine.read_text()))
            mine.unlink()
            return binding
        time.sleep(0.005)
    raise CloudFilesError(
        "CF_NO_CHECKPOINT",
        "The source has no checkpoint: the stream was not started by start() or toTable().",
        next_step="Start the stream with df.writeStream…start() or toTable(…).",
    )
