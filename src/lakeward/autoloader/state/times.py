"""When the files of a frame were committed: a later frame says so."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.autoloader.state.frames import Frame

__all__ = ["commit_times"]


def commit_times(frames: Sequence[Frame]) -> dict[int, int]:
    """Milliseconds by a frame's `start`, for frames whose files are known to be done."""
    out: dict[int, int] = {}
    waiting: list[Frame] = []
    for frame in frames:
        if frame.kind in "KL":
            out[frame.start] = frame.committed
        if not frame.is_numbered:
            continue
        done = [earlier for earlier in waiting if earlier.last <= frame.committed]
        out.update((earlier.start, frame.taken) for earlier in done)
        waiting = [earlier for earlier in waiting if earlier.last > frame.committed]
        waiting.append(frame)
    return out
