"""`maxFileAge`: old files that are no longer in the source are forgotten (auto-loader.md §1.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lakeward.autoloader.state.frames import Frame, encode_cleaned, encode_frame
from lakeward.autoloader.state.times import commit_times

__all__ = ["thinned"]

_THINNED = {"F": "K", "B": "L", "K": "K", "L": "L"}


def thinned(
    frames: Iterable[Frame], *, before: int, committed: int, present: Callable[[str], bool]
) -> Iterator[bytes]:
    """The log without the files that were taken earlier than `before` (ms), done, and are not `present`.

    A file that still lies in the source stays known however old it is: forgotten, it would be read twice.
    """
    everything = list(frames)
    done = commit_times(everything)
    young = next(
        (
            index
            for index, frame in enumerate(everything)
            if frame.is_numbered and (frame.taken >= before or frame.last > committed)
        ),
        len(everything),
    )
    following = everything[young].first if young < len(everything) else everything[-1].last + 1
    # Also when nothing is left to keep: the frame carries the number that follows.
    yield encode_frame(following, [], kind="K")
    for frame in everything[:young]:
        if frame.kind == "A":
            kept = [file for file in frame.cleaned() if present(file.key)]
            if kept:
                yield encode_cleaned(following, kept, taken=frame.taken)
            continue
        entries = [entry for entry in frame.entries() if present(entry.key)]
        if entries:
            kind, when = _THINNED[frame.kind], done.get(frame.start, 0)
            yield encode_frame(following, entries, kind=kind, taken=frame.taken, committed=when)
    for frame in everything[young:]:
        if frame.kind == "A":
            yield encode_cleaned(frame.first, frame.cleaned(), taken=frame.taken)
        else:
            entries = list(frame.entries())
            yield encode_frame(
                frame.first, entries, kind=frame.kind, taken=frame.taken, committed=frame.committed
            )
