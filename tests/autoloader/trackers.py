"""Trackers of a source in a temporary folder, without Spark."""

from __future__ import annotations

import os
from pathlib import Path

from lakeward.autoloader.cleaning import Cleaner, policy_of
from lakeward.autoloader.discovery import FileStatus, Lister, Names, storage_of
from lakeward.autoloader.options import Options
from lakeward.autoloader.state import Registry, StateLog
from lakeward.autoloader.tracker import Offset, Tracker
from lakeward.session.paths import PathMap

NAMES = Names(PathMap(()))
DAY = 86_400.0


class Source:
    """The folder `in` and the state of a stream from it; every `run` is a process of its own."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.folder = folder / "in"
        self.folder.mkdir(exist_ok=True)
        self.state = folder / "state"
        self.options = options
        self.day = 0.0
        self.at: Offset | None = None

    def put(self, *names: str, text: str = "{}") -> None:
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def tracker(self) -> Tracker:
        given = {f"cloudFiles.{key}": value for key, value in self.options.items()}
        options = Options.of({"cloudFiles.format": "json", **given})
        lister = Lister(str(self.folder), storage_of(str(self.folder)), NAMES)
        registry = Registry(StateLog(self.state), versions=options.flag("cloudFiles.allowOverwrites"))
        policy = policy_of(options, str(self.folder), NAMES)
        cleaner = Cleaner(policy) if policy is not None else None
        return Tracker(registry, lister, options, cleaner=cleaner, clock=lambda: (20_000 + self.day) * DAY)

    def run(self, *arriving: str) -> list[str]:
        """An availableNow run after these files have arrived; gives the names of the files that it took."""
        self.put(*arriving)
        tracker = self.tracker()
        start = self.at or tracker.initial()
        tracker.freeze()
        names: list[str] = []
        while (end := tracker.latest(start, limited=True)) != start:
            names += names_of(tracker.files(start, end))
            start = end
        self.at = start
        return names

    def there(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


def names_of(files: list[FileStatus]) -> list[str]:
    return [os.path.basename(status.path) for status in files]
