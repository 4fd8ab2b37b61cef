"""Checkpoints of streams, and full refreshes that restart them without losing a row.

    <storage>/checkpoints/<dataset>/<flow>/<n>      the highest n is in use
    <storage>/checkpoints/<dataset>/changes %2A/<n> the auxiliary table of AUTO CDC
    <storage>/resets/<dataset>.json                 a full refresh that has begun

A full refresh first writes its intent: the numbers of the new checkpoints. It then truncates the table,
creates the new checkpoints, deletes the former ones and removes the intent. An update that finds an intent
repeats all of these steps; no flow writes in between, so the repetition is idempotent. Without the intent, a
kill between truncating and numbering would lose the rows already read; in the other order they would be read
twice."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, unquote

from lakeward.atomic_files import atomic_write
from lakeward.errors import PipelineError
from lakeward.pipelines.graph.dataflow_graph import RefreshSelection
from lakeward.pipelines.graph.elements import Flow

# A sibling of the flows' folders, whose names are encoded.
_AUXILIARY_TABLE = "changes *"


class Checkpoints:
    """The checkpoints of one pipeline, below its storage folder."""

    def __init__(self, storage: Path) -> None:
        self.storage = storage
        self._checkpoints = storage / "checkpoints"
        self._resets = storage / "resets"

    def current(self, dataset: tuple[str, ...], flow: str) -> Path:
        """Return the checkpoint folder of the flow; number 0 before the first run."""
        return self._folder(dataset, flow) / str(self._number(dataset, flow))

    def next(self, dataset: tuple[str, ...], flow: str) -> Path:
        """Return the checkpoint folder of the flow after its next full refresh, or one in progress."""
        folder, intent = self._folder(dataset, flow), self._intent(dataset)
        numbers = _read_intent(intent) if intent.exists() else {}
        number = numbers.get(str(folder.relative_to(self._checkpoints)), _next_number(folder))
        return folder / str(number)

    def auxiliary_table(self, dataset: tuple[str, ...]) -> Path:
        """Return the folder of the dataset's auxiliary table; a full refresh starts a new one."""
        return self.current(dataset, _AUXILIARY_TABLE)

    def has_progress(self, dataset: tuple[str, ...]) -> bool:
        """Return whether any flow of the dataset has ever processed input."""
        folder = self._checkpoints / _file_name(".".join(dataset))
        return folder.is_dir() and any(folder.glob("*/*/*"))

    def of_flows(self, dataset: tuple[str, ...]) -> dict[str, Path]:
        """Return the checkpoint in use of each flow of a dataset, by the flow's name in lower case."""
        flows = {unquote(folder.name): _highest_number(folder) for folder in self._known_flows(dataset)}
        return {
            flow: self._folder(dataset, flow) / str(number) for flow, number in flows.items() if number >= 0
        }

    def is_resetting(self, dataset: tuple[str, ...]) -> bool:
        """Return whether a full refresh of the dataset has begun and not finished."""
        return self._intent(dataset).exists()

    def begin_reset(self, dataset: tuple[str, ...], flows: Iterable[str]) -> None:
        """Record the numbers of the next checkpoints; an existing intent is kept."""
        intent = self._intent(dataset)
        if intent.exists():
            return
        folders = {self._folder(dataset, flow) for flow in flows} | set(self._known_flows(dataset))
        numbers = {str(folder.relative_to(self._checkpoints)): _next_number(folder) for folder in folders}
        intent.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(intent, json.dumps(numbers), synced=True)

    def finish_reset(self, dataset: tuple[str, ...]) -> None:
        """Create the new checkpoints once the table is empty, delete the former ones, remove the intent.

        Former checkpoints hold rows: of auxiliary tables, stored snapshots and state stores.
        """
        intent = self._intent(dataset)
        for name, number in _read_intent(intent).items():
            folder = self._checkpoints / name
            (folder / str(number)).mkdir(parents=True, exist_ok=True)
            _delete_former(folder, number)
        intent.unlink()

    def restart(self, dataset: tuple[str, ...], flow: str) -> None:
        """Start a new checkpoint for the flow and delete the former ones; the table keeps its rows."""
        folder = self._folder(dataset, flow)
        number = _next_number(folder)
        (folder / str(number)).mkdir(parents=True)
        _delete_former(folder, number)

    def _number(self, dataset: tuple[str, ...], flow: str) -> int:
        return max(_highest_number(self._folder(dataset, flow)), 0)

    def _known_flows(self, dataset: tuple[str, ...]) -> list[Path]:
        folder = self._checkpoints / _file_name(".".join(dataset))
        return [entry for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []

    def _folder(self, dataset: tuple[str, ...], flow: str) -> Path:
        return self._checkpoints / _file_name(".".join(dataset)) / _file_name(flow.lower())

    def _intent(self, dataset: tuple[str, ...]) -> Path:
        return self._resets / (_file_name(".".join(dataset)) + ".json")


def _read_intent(file: Path) -> dict[str, int]:
    """Return the numbers of the new checkpoints. Raises PipelineError(PIPELINE_STATE_DAMAGED)."""

    def parse(text: str) -> dict[str, int]:
        numbers = json.loads(text)
        if not isinstance(numbers, dict) or not all(type(number) is int for number in numbers.values()):
            raise ValueError("it is not a map of folders to numbers")
        if any(".." in folder.split("/") or folder.startswith("/") for folder in numbers):
            raise ValueError("it names folders outside of the checkpoints")
        return numbers

    next_step = "Delete the file, then refresh the table fully (--full-refresh): its rows may be incomplete."
    return read_state_file(
        file, "The record of a full refresh that was interrupted", parse, next_step=next_step
    )


def _file_name(name: str) -> str:
    """Encode a name as one path segment; dots, letters and digits stay readable."""
    return quote(name, safe=" ")


def _next_number(folder: Path) -> int:
    return max(_highest_number(folder), 0) + 1


def _highest_number(folder: Path) -> int:
    if not folder.is_dir():
        return -1
    return max((int(entry.name) for entry in folder.iterdir() if entry.name.isdigit()), default=-1)


def _delete_former(folder: Path, number: int) -> None:
    """Delete the entries of `folder` that belong to a lower number, such as `0` and `0.carried`."""
    for entry in list(folder.iterdir()):
        former = entry.name.partition(".")[0]
        if former.isdigit() and int(former) < number:
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()


_NOTHING = RefreshSelection(frozenset(), frozenset())


class SchemaLocations:
    """Schema locations of one update, which refreshes `selection`; `temporary` is a temporary folder.

    A flow has one for each Auto Loader stream, by its number, and for each `schemaLocationKey`.
    """

    def __init__(
        self,
        storage: Path,
        checkpoints: Checkpoints,
        temporary: Path,
        selection: RefreshSelection = _NOTHING,
    ) -> None:
        self._storage, self._checkpoints, self._temporary = storage / "schemas", checkpoints, temporary
        self.selection = selection

    def for_analysis(self, flow: Flow, reader: int | str) -> str:
        """Return the location for phase 1: a copy of the current schema, empty for a stream that restarts."""
        starts_over = (
            flow.target in self.selection.reset or (flow.target, flow.name) in self.selection.restart
        )
        checkpoint = (self._checkpoints.next if starts_over else self._checkpoints.current)(
            flow.target, flow.name
        )
        location = self._temporary / _relative_location(checkpoint, reader)
        real = self._storage / _relative_location(checkpoint, reader)
        if real.is_dir() and not location.exists():
            shutil.copytree(real, location)
        return str(location)

    def for_execution(self, flow: Flow, reader: int | str) -> str:
        """Return the location for phase 2: the permanent one, initialized with the schemas of phase 1."""
        # The stream of a table that is not truncated yet starts with the next checkpoint.
        is_resetting = self._checkpoints.is_resetting(flow.target)
        checkpoint = (self._checkpoints.next if is_resetting else self._checkpoints.current)(
            flow.target, flow.name
        )
        inside = _relative_location(checkpoint, reader)
        location, tried = self._storage / inside, self._temporary / inside
        if tried.is_dir() and not location.exists():
            location.parent.mkdir(parents=True, exist_ok=True)
            aside = location.with_name(f".{uuid.uuid4().hex}")
            shutil.copytree(tried, aside)
            aside.rename(location)
        return str(location)


def _relative_location(checkpoint: Path, reader: int | str) -> Path:
    return Path(*checkpoint.parts[-3:]) / str(reader)


_T = TypeVar("_T")

# What parsers raise for a file that is empty, truncated, of another type or of other bytes.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError, StopIteration)


def read_state_file(file: Path, what: str, parse: Callable[[str], _T], *, next_step: str) -> _T:
    """Return the parsed content of a file that lakeward wrote atomically.

    Args:
        file: The file; it exists.
        what: What it records, as the beginning of the message.
        parse: Returns the content; raises ValueError, KeyError or TypeError for anything else.
        next_step: How to repair it.

    Raises:
        PipelineError: PIPELINE_STATE_DAMAGED. Nothing is guessed: a table could lose rows or get them twice.
    """
    try:
        return parse(file.read_text(encoding="utf-8"))
    except _UNREADABLE as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise PipelineError(
            "PIPELINE_STATE_DAMAGED",
            f"{what} cannot be read: {file} ({reason or type(error).__name__}).",
            next_step=next_step,
        ) from None
