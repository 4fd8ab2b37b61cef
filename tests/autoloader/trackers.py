"""File trackers of a source in a temporary directory, without Spark."""

from __future__ import annotations

import os
from pathlib import Path

from lakeward.autoloader.discovery.file_listing import FileLister, FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.discovery.storage import open_storage
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.state.state_log import StateLog
from lakeward.autoloader.streams.file_registry import FileRegistry
from lakeward.autoloader.streams.file_tracker import FileTracker, Offset
from lakeward.autoloader.streams.source_cleaning import SourceCleaner, cleaning_policy
from lakeward.session.paths import PathMap

NAMES = FileNames(PathMap(()))
DAY = 86_400.0


class Source:
    """The directory `in` and the state of a stream; every `run` is a restart."""

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

    def tracker(self) -> FileTracker:
        given = {f"cloudFiles.{key}": value for key, value in self.options.items()}
        options = Options.of({"cloudFiles.format": "json", **given})
        lister = FileLister(str(self.folder), open_storage(str(self.folder)), NAMES)
        registry = FileRegistry(StateLog(self.state), versions=options.flag("cloudFiles.allowOverwrites"))
        policy = cleaning_policy(options, str(self.folder), NAMES)
        cleaner = SourceCleaner(policy) if policy is not None else None
        return FileTracker(
            registry, lister, options, cleaner=cleaner, clock=lambda: (20_000 + self.day) * DAY
        )

    def run(self, *arriving: str) -> list[str]:
        """Run availableNow after these files have arrived; return the names of processed files."""
        self.put(*arriving)
        tracker = self.tracker()
        start = self.at or tracker.initial_offset()
        tracker.prepare_available_now()
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
