"""One update of a pipeline at a time (invariant 23)."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.errors import PipelineError

__all__ = ["alone"]


@contextmanager
def alone(storage: Path, name: str) -> Iterator[None]:
    """A block in which no other process updates the pipeline. Raises PipelineError when one does.

    The operating system lets go of the lock when its process ends, however it ends.
    """
    storage.mkdir(parents=True, exist_ok=True)
    with (storage / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise PipelineError(
                "UPDATE_ALREADY_RUNNING",
                f"The pipeline `{name}` is being updated by {holder}.",
                next_step="Wait for it to end, or stop it, and run again.",
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()}")
        file.flush()
        yield
