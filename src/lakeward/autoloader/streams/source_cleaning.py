"""`cleanSource`: deletes or moves files that the sink has committed (AL-6.6)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from lakeward.autoloader.discovery.file_listing import FileLister
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.discovery.globs import literal_root
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.state.frames import CleanedFile, FileEntry
from lakeward.autoloader.state.state_log import commit_times
from lakeward.autoloader.streams.file_registry import FileRegistry
from lakeward.errors import CloudFilesError

_LOG = logging.getLogger(__name__)
_MIN_DELETE_RETENTION = timedelta(days=7)
# Limits the delay of a batch.
_MAX_FILES_PER_STEP = 1000
# Interval between scans of the history, in milliseconds; a shorter retention is the interval.
_SCAN_INTERVAL = 60_000


@dataclass(frozen=True)
class CleaningPolicy:
    """Mode, retention after commit, destination, and whether a step cleans all due files."""

    mode: str
    retention: timedelta
    destination: str | None = None
    waits: bool = False


def cleaning_policy(options: Options, source: str, names: FileNames) -> CleaningPolicy | None:
    """Return the policy of the options, None for OFF.

    Raises CloudFilesError for settings that would lose data, also without `validateOptions`.
    """
    if not options.cleans_source:
        return None
    mode = str(options.value("cloudFiles.cleanSource"))
    if options.flag("cloudFiles.allowOverwrites"):
        raise CloudFilesError(
            "CF_CLEAN_SOURCE_ALLOW_OVERWRITES_BOTH_ON",
            f"cloudFiles.cleanSource is {mode} and cloudFiles.allowOverwrites is true.",
            next_step="Disable one of them: a cleaned file could be a newer version that was not read.",
        )
    retention: timedelta = options.value("cloudFiles.cleanSource.retentionDuration")
    if mode == "DELETE" and retention <= _MIN_DELETE_RETENTION:
        raise _invalid_option("cleanSource.retentionDuration", str(retention), "more than 7 days with DELETE")
    destination = _destination(options, source, names) if mode == "MOVE" else None
    return CleaningPolicy(
        mode, retention, destination, options.flag("cloudFiles.cleanSource.waitForCompletion")
    )


def _destination(options: Options, source: str, names: FileNames) -> str:
    key = "cleanSource.moveDestination"
    value = options.text(f"cloudFiles.{key}")
    if not value:
        raise _invalid_option(key, "nothing", "a directory with cloudFiles.cleanSource=MOVE")
    local, root = names.local(value).rstrip("/"), literal_root(source).rstrip("/")
    if f"{local}/".startswith(f"{root}/"):
        raise _invalid_option(
            key, repr(value), "a directory outside of the source: moved files would be read again"
        )
    if _store(local) != _store(root):
        # Source: https://docs.databricks.com/gcp/error-messages/cf-unsupported-clean-source-move-error-class
        raise CloudFilesError(
            "CF_UNSUPPORTED_CLEAN_SOURCE_MOVE.DIFFERENT_STORAGE_AS_SOURCE",
            f"Option cloudFiles.{key} is set to {value!r}, and the source is in another bucket or container.",
            next_step="Use a directory next to the source.",
        )
    return local


def _store(path: str) -> tuple[str, str]:
    """Return scheme and authority of a path; empty for a local one."""
    scheme, is_uri, rest = path.partition("://")
    return (scheme, rest.partition("/")[0]) if is_uri else ("", "")


def _invalid_option(key: str, value: str, expected: str) -> CloudFilesError:
    return CloudFilesError(
        "CF_INVALID_OPTION_VALUE",
        f"Option cloudFiles.{key} is set to {value}; expected {expected}.",
        next_step="Correct the value or remove the option.",
    )


def is_cleanable(entry: FileEntry, path: str, lister: FileLister) -> bool:
    """Return whether the file at `path` is the processed version and belongs to the source.

    Changed files, linked files, and files outside the source or its wildcards are not cleaned. Raises
    FileNotFoundError if the file does not exist.
    """
    if not lister.covers(path) or not lister.storage.is_regular_file(path, lister.root):
        return False
    return lister.storage.stat(path, fresh=True) == (entry.size, entry.mtime)


class SourceCleaner:
    """Cleans a part of the due files per call.

    A file is cleaned only if this stream has processed it, its sink has committed it, it lies below the
    source, and it has not changed since.
    """

    def __init__(self, policy: CleaningPolicy) -> None:
        self._policy = policy
        self._candidates: Iterator[FileEntry] = iter(())
        self._next_scan = 0

    def step(self, registry: FileRegistry, lister: FileLister, now: int) -> None:
        """Clean files; `now` is in milliseconds. Files that cannot be cleaned are retried later."""
        chosen = list(islice(self._candidates, None if self._policy.waits else _MAX_FILES_PER_STEP))
        if not chosen and now >= self._next_scan:
            self._next_scan = now + min(_SCAN_INTERVAL, _milliseconds(self._policy.retention))
            self._candidates = self._due(registry, now)
            chosen = list(islice(self._candidates, None if self._policy.waits else _MAX_FILES_PER_STEP))
        cleaned = [file for entry in chosen if (file := self._clean(entry, lister)) is not None]
        if cleaned:
            registry.add_cleaned(cleaned, assigned_at=now)

    def _due(self, registry: FileRegistry, now: int) -> Iterator[FileEntry]:
        frames = list(registry.frames())
        done = commit_times(frames)
        gone = {file.key for frame in frames if frame.kind == "A" for file in frame.cleaned()}
        kept = gone | registry.skipped().keys()
        latest = now - _milliseconds(self._policy.retention)
        for frame in frames:
            if frame.kind in "FK" and frame.start in done and done[frame.start] <= latest:
                yield from (entry for entry in frame.entries() if entry.key not in kept)

    def _clean(self, entry: FileEntry, lister: FileLister) -> CleanedFile | None:
        path, target = lister.names.local(entry.key), ""
        try:
            if not is_cleanable(entry, path, lister):
                return None
            if self._policy.destination is None:
                lister.storage.delete(path)
            else:
                target = self._policy.destination + path[len(lister.root.rstrip("/")) :]
                lister.storage.move(path, target)
        except FileNotFoundError:
            return None
        except OSError as error:
            _LOG.warning("Cannot clean %s: %s", entry.key, error)
            return None
        return CleanedFile(entry.key, self._policy.mode, lister.names.key(target) if target else "")


def _milliseconds(interval: timedelta) -> int:
    return int(interval.total_seconds() * 1000)
