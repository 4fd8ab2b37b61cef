"""`cleanSource`: files that were read long enough ago are deleted or moved (auto-loader.md §6.6).

Only files go that this stream has taken, that its sink has committed, that lie below its source and that are
still as they were when they were taken. Everything else stays where it is.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from lakeward.autoloader.discovery import Lister, Names, literal_root
from lakeward.autoloader.options import Options
from lakeward.autoloader.state import Cleaned, Entry, Registry, commit_times
from lakeward.errors import CloudFilesError

__all__ = ["Cleaner", "Policy", "is_due", "policy_of"]

_LOG = logging.getLogger(__name__)
_DELETE_AFTER = timedelta(days=7)
# Files a batch; deleting must not hold up reading.
_AT_ONCE = 1000
# Between two looks at the whole history, in milliseconds.
_PAUSE = 60_000


@dataclass(frozen=True)
class Policy:
    """What becomes of files, how long after their commit, and whether all that are due go at once."""

    mode: str
    retention: timedelta
    destination: str | None = None
    waits: bool = False


def policy_of(options: Options, source: str, names: Names) -> Policy | None:
    """What the options ask for, None for nothing.

    Raises CloudFilesError for what would lose data, also where `validateOptions` is false.
    """
    mode = str(options.value("cloudFiles.cleanSource"))
    if mode == "OFF":
        return None
    if options.flag("cloudFiles.allowOverwrites"):
        raise CloudFilesError(
            "CF_CLEAN_SOURCE_ALLOW_OVERWRITES_BOTH_ON",
            f"cloudFiles.cleanSource is {mode} and cloudFiles.allowOverwrites is true.",
            next_step="Set one of them alone: a cleaned file could be a newer one that was not read.",
        )
    retention: timedelta = options.value("cloudFiles.cleanSource.retentionDuration")
    if mode == "DELETE" and retention <= _DELETE_AFTER:
        raise _invalid("cleanSource.retentionDuration", str(retention), "more than 7 days with DELETE")
    destination = _destination(options, source, names) if mode == "MOVE" else None
    return Policy(mode, retention, destination, options.flag("cloudFiles.cleanSource.waitForCompletion"))


def _destination(options: Options, source: str, names: Names) -> str:
    key = "cleanSource.moveDestination"
    given = options.text(f"cloudFiles.{key}")
    if not given:
        raise _invalid(key, "nothing", "a folder with cloudFiles.cleanSource=MOVE")
    local, root = names.local(given).rstrip("/"), literal_root(source).rstrip("/")
    if f"{local}/".startswith(f"{root}/"):
        raise _invalid(key, repr(given), "a folder that is not below the source: files would be read again")
    if _scheme(local) != _scheme(root):
        raise _invalid(key, repr(given), "a folder in the store of the source")
    return local


def _scheme(path: str) -> str:
    return path.partition("://")[0] if "://" in path else ""


def _invalid(key: str, given: str, wanted: str) -> CloudFilesError:
    return CloudFilesError(
        "CF_INVALID_OPTION_VALUE",
        f"Option cloudFiles.{key} is set to {given}; it takes {wanted}.",
        next_step="Correct the value or leave the option out.",
    )


def is_due(entry: Entry, path: str, lister: Lister) -> bool:
    """Whether the file at `path` is the one that was taken, and of the source's own.

    Not one that was changed since (nobody has read what is in it now), nor one beside the source, reached
    through a link, or beyond the wildcards of `load`. FileNotFoundError when it is gone.
    """
    if not lister.covers(path) or not lister.storage.is_plain(path, lister.root):
        return False
    return lister.storage.stat(path, fresh=True) == (entry.size, entry.mtime)


class Cleaner:
    """Cleans a part of what is due each time it is asked."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._candidates: Iterator[Entry] = iter(())
        self._next_scan = 0

    def step(self, registry: Registry, lister: Lister, now: int) -> None:
        """Clean; `now` in milliseconds. A file that cannot be cleaned stays, and is tried again next time."""
        chosen = list(islice(self._candidates, None if self._policy.waits else _AT_ONCE))
        if not chosen and now >= self._next_scan:
            self._next_scan = now + _PAUSE
            self._candidates = self._due(registry, now)
            chosen = list(islice(self._candidates, None if self._policy.waits else _AT_ONCE))
        cleaned = [file for entry in chosen if (file := self._clean(entry, lister)) is not None]
        if cleaned:
            registry.add_cleaned(cleaned, taken=now)

    def _due(self, registry: Registry, now: int) -> Iterator[Entry]:
        frames = list(registry.frames())
        done = commit_times(frames)
        gone = {file.key for frame in frames if frame.kind == "A" for file in frame.cleaned()}
        kept = gone | registry.skipped().keys()
        latest = now - int(self._policy.retention.total_seconds() * 1000)
        for frame in frames:
            if frame.kind in "FK" and frame.start in done and done[frame.start] <= latest:
                yield from (entry for entry in frame.entries() if entry.key not in kept)

    def _clean(self, entry: Entry, lister: Lister) -> Cleaned | None:
        path, target = lister.names.local(entry.key), ""
        try:
            if not is_due(entry, path, lister):
                return None
            if self._policy.destination is None:
                lister.storage.delete(path)
            else:
                target = self._policy.destination + path[len(lister.root.rstrip("/")) :]
                lister.storage.move(path, target)
        except FileNotFoundError:
            return None
        except OSError as error:
            _LOG.warning("%s stays: %s", entry.key, error)
            return None
        return Cleaned(entry.key, self._policy.mode, lister.names.key(target) if target else "")
