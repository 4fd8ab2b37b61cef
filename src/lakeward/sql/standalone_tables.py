"""Definitions of standalone materialized views and streaming tables: those that no pipeline's files declare.

A definition is `definition.json` in the storage folder of a pipeline of one dataset, which is called
`MV-<catalog>.<schema>.<name>` or `ST-…`, as on Databricks. The table's property `pipelines.pipelineId` names
that pipeline.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lakeward.atomic_files import atomic_write
from lakeward.file_lock import FileLock

if TYPE_CHECKING:
    from lakeward.session import Settings

DatasetKind = Literal["materialized_view", "streaming_table"]
LABELS: Mapping[DatasetKind, str] = {
    "materialized_view": "materialized view",
    "streaming_table": "streaming table",
}
_PREFIXES: Mapping[DatasetKind, str] = {"materialized_view": "MV", "streaming_table": "ST"}
_FILE = "definition.json"
# Names of clients: none leads out of the folder.
_PIPELINE = re.compile(f"(?:{'|'.join(_PREFIXES.values())})-[^/]+")


@dataclass(frozen=True)
class Refresh:
    """The latest refresh: state, time of its end (ISO 8601), error if it failed, and update."""

    state: str
    ended: str
    error: str | None = None
    update_id: str = ""


@dataclass(frozen=True)
class StandaloneTable:
    """A materialized view or streaming table and the statement that defines it.

    Attributes:
        kind: What it is.
        name: Catalog, schema and name, in lower case.
        text: The CREATE statement.
        catalog: The current catalog when it was created.
        schema: The current schema when it was created.
        schedule: When it is refreshed, such as `EVERY 1 HOUR`; "" without a schedule.
        latest: The latest refresh.
        query: The text of the query, "" without one.
    """

    kind: DatasetKind
    name: tuple[str, ...]
    text: str
    catalog: str
    schema: str
    schedule: str = ""
    latest: Refresh | None = None
    query: str = ""

    @property
    def pipeline(self) -> str:
        """Return the name of the pipeline that refreshes it."""
        return f"{_PREFIXES[self.kind]}-{'.'.join(self.name)}"

    def folder(self, settings: Settings) -> Path:
        """Return the storage folder of its pipeline."""
        return settings.pipelines / self.pipeline

    def lock(self, settings: Settings) -> FileLock:
        """Return the lock that statements on this table hold."""
        return FileLock(settings.pipelines / f".{self.pipeline}.lock")

    def save(self, settings: Settings) -> None:
        """Store the definition atomically."""
        folder = self.folder(settings)
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write(folder / _FILE, json.dumps(asdict(self), indent=2))

    def remove(self, settings: Settings) -> None:
        """Remove the definition with the checkpoints and the event log."""
        shutil.rmtree(self.folder(settings), ignore_errors=True)

    def after_refresh(self, refresh: Refresh) -> StandaloneTable:
        """Return the definition with the result of its latest refresh."""
        return replace(self, latest=refresh)


def find_standalone_table(settings: Settings, pipeline: str | None) -> StandaloneTable | None:
    """Return the definition that a pipeline of one dataset refreshes; None for other pipelines."""
    if pipeline is None or not _PIPELINE.fullmatch(pipeline):
        return None
    try:
        stored: dict[str, Any] = json.loads((settings.pipelines / pipeline / _FILE).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    latest = stored.pop("latest")
    return StandaloneTable(
        **{**stored, "name": tuple(stored["name"])}, latest=Refresh(**latest) if latest else None
    )


def list_standalone_tables(settings: Settings) -> Iterator[StandaloneTable]:
    """Yield all definitions of the lakehouse, sorted by the names of their pipelines."""
    for file in sorted(settings.pipelines.glob(f"*/{_FILE}")):
        found = find_standalone_table(settings, file.parent.name)
        if found is not None:
            yield found
