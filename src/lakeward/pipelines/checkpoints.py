"""Where streams keep what they have read, and how a full refresh starts them anew without losing a row.

    <storage>/checkpoints/<dataset>/<flow>/<n>      the highest n is in force
    <storage>/checkpoints/<dataset>/changes %2A/<n> the side table of AUTO CDC
    <storage>/resets/<dataset>.json                 a full refresh that has begun

A full refresh writes its intent first: the numbers of the new checkpoints. Then the table is emptied, then
the new checkpoints are made, then the intent is removed. Whoever finds an intent does all of it again; no
flow writes in between, so this changes nothing that was already done. Without the intent, a kill between
emptying and numbering would lose the rows already read, the other order would read them twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from lakeward.whole_files import write_whole

__all__ = ["Checkpoints"]

# Its folder stands among those of the flows, whose names are quoted.
_SIDE_TABLE = "changes *"


class Checkpoints:
    """The checkpoints of one pipeline, below its storage folder."""

    def __init__(self, storage: Path) -> None:
        self._checkpoints = storage / "checkpoints"
        self._resets = storage / "resets"

    def current(self, dataset: tuple[str, ...], flow: str) -> Path:
        """The folder that the flow's stream works with; 0 before the first run."""
        return self._folder(dataset, flow) / str(self._number(dataset, flow))

    def side_table(self, dataset: tuple[str, ...]) -> Path:
        """Where what AUTO CDC has to remember of the dataset is kept; a full refresh begins another."""
        return self.current(dataset, _SIDE_TABLE)

    def begun(self, dataset: tuple[str, ...]) -> bool:
        """Whether any flow of the dataset has ever read something."""
        folder = self._checkpoints / _file_name(".".join(dataset))
        return folder.is_dir() and any(folder.glob("*/*/*"))

    def interrupted(self, dataset: tuple[str, ...]) -> bool:
        """Whether a full refresh of the dataset has begun and not ended."""
        return self._intent(dataset).exists()

    def begin_reset(self, dataset: tuple[str, ...], flows: Iterable[str]) -> None:
        """Write down which checkpoints come next; an intent already there stays as it is."""
        intent = self._intent(dataset)
        if intent.exists():
            return
        folders = {self._folder(dataset, flow) for flow in flows} | set(self._known_flows(dataset))
        numbers = {
            str(folder.relative_to(self._checkpoints)): max(_highest(folder), 0) + 1 for folder in folders
        }
        intent.parent.mkdir(parents=True, exist_ok=True)
        write_whole(intent, json.dumps(numbers), synced=True)

    def finish_reset(self, dataset: tuple[str, ...]) -> None:
        """Make the new checkpoints, once the table is empty, and forget the intent."""
        intent = self._intent(dataset)
        for folder, number in json.loads(intent.read_text()).items():
            (self._checkpoints / folder / str(number)).mkdir(parents=True, exist_ok=True)
        intent.unlink()

    def restart(self, dataset: tuple[str, ...], flow: str) -> None:
        """Let the flow's stream begin anew, without what it has read and with all that is in the table."""
        number = max(_highest(self._folder(dataset, flow)), 0) + 1
        (self._folder(dataset, flow) / str(number)).mkdir(parents=True)

    def _number(self, dataset: tuple[str, ...], flow: str) -> int:
        return max(_highest(self._folder(dataset, flow)), 0)

    def _known_flows(self, dataset: tuple[str, ...]) -> list[Path]:
        folder = self._checkpoints / _file_name(".".join(dataset))
        return [entry for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []

    def _folder(self, dataset: tuple[str, ...], flow: str) -> Path:
        return self._checkpoints / _file_name(".".join(dataset)) / _file_name(flow.lower())

    def _intent(self, dataset: tuple[str, ...]) -> Path:
        return self._resets / (_file_name(".".join(dataset)) + ".json")


def _file_name(name: str) -> str:
    """A name as one path segment; dots, letters and digits stay readable."""
    return quote(name, safe=" ")


def _highest(folder: Path) -> int:
    if not folder.is_dir():
        return -1
    return max((int(entry.name) for entry in folder.iterdir() if entry.name.isdigit()), default=-1)
