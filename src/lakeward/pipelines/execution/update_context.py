"""The options of one update, the lock of its pipeline, and the signals of continuous mode."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lakeward.errors import ConfigurationError, PipelineError
from lakeward.file_lock import exclusive_lock
from lakeward.pipelines.graph.elements import DefaultSchema
from lakeward.pipelines.graph.results import Progress
from lakeward.pipelines.storage.streaming_query_task import PROGRESS_SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Cause = Literal["USER_ACTION", "SCHEMA_CHANGE"]
_INTERVAL = "pipelines.trigger.interval"
_DEFAULT_SECONDS = 5.0
_UNITS = {"ms": 0.001, "millisecond": 0.001, "s": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0}
_UNITS |= {"h": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")


OWN_SETTINGS = ("pipelines.id", "pipelines.catalog", "pipelines.schema", "pipelines.target")
"""Settings of the running pipeline that its code reads; `pipelines.target` is an older name of the schema."""


@dataclass(frozen=True, kw_only=True)
class UpdateOptions:
    """Options of one update of a pipeline.

    Attributes:
        name: The pipeline's name; it owns the tables that it creates.
        catalog: Catalog of datasets that name none; default: the session's.
        schema: Schema of datasets that name none; default: the session's.
        configuration: The pipeline's configuration: Spark settings and parameters.
        root: Folder that the sources import from; default: the folder that contains all sources.
        storage: Folder of checkpoints, event log and lock; default: `pipelines/<name>` of the lakehouse.
        event_log: Name of the table as which the event log is published; its catalog and schema default to
            those of the pipeline.
        refresh: Datasets to refresh; none means all.
        only_selected: Leave the other tables out of the graph: flows read them like tables of others.
        full_refresh: Datasets to truncate and reprocess.
        full_refresh_all: Truncate and reprocess all datasets.
        reset_checkpoints: Flows that reprocess all input into tables that keep their rows.
        dry_run: Stop after the analysis; write nothing.
        continuous: Repeat until SIGTERM or Ctrl-C.
        development: Do not retry flows; in production mode transient failures are retried.
        on_event: Called with every step of progress.
        now: Returns the time in seconds since 1970, for filters of views by `current_date()` and the like.
    """

    name: str = "pipeline"
    catalog: str | None = None
    schema: str | None = None
    configuration: Mapping[str, str] = field(default_factory=dict)
    root: Path | None = None
    storage: Path | None = None
    event_log: str | None = None
    refresh: Sequence[str] = ()
    only_selected: bool = False
    full_refresh: Sequence[str] = ()
    full_refresh_all: bool = False
    reset_checkpoints: Sequence[str] = ()
    dry_run: bool = False
    continuous: bool = False
    development: bool = True
    on_event: Callable[[Progress], None] | None = None
    now: Callable[[], float] = time.time


@dataclass(frozen=True)
class PipelineUpdateContext:
    """The session, sources and folders of one update, resolved from its options."""

    spark: SparkSession
    sources: tuple[Path, ...]
    default_schema: DefaultSchema
    root: Path
    storage: Path
    user: str
    conf: dict[str, str]
    options: UpdateOptions
    cause: Cause = "USER_ACTION"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the folders that user modules are imported from."""
        return tuple(dict.fromkeys([self.root, *(source.parent for source in self.sources)]))

    @property
    def session_conf(self) -> dict[str, str]:
        """Return the session's settings: those of the pipeline itself, its configuration, lakeward's own."""
        catalog, schema = self.default_schema.catalog, self.default_schema.schema
        own = dict(zip(OWN_SETTINGS, (self.options.name, catalog, schema, schema), strict=True))
        return {**own, **self.conf, **PROGRESS_SETTINGS}

    def after_schema_change(self) -> PipelineUpdateContext:
        """Return the context of the update that follows new columns: the same, without resets."""
        named = [*self.options.refresh, *self.options.full_refresh]
        options = replace(
            self.options, refresh=named, full_refresh=(), full_refresh_all=False, reset_checkpoints=()
        )
        return replace(self, options=options, cause="SCHEMA_CHANGE")


def update_lock(storage: Path, name: str) -> AbstractContextManager[None]:
    """Return the lock of the pipeline; the operating system releases it when the process ends.

    Entering it raises PipelineError UPDATE_ALREADY_RUNNING if another process holds it.
    """

    def busy(owner: str) -> PipelineError:
        return PipelineError(
            "UPDATE_ALREADY_RUNNING",
            f"The pipeline `{name}` is being updated by {owner}.",
            next_step="Wait for that update to finish, or stop it, and run again.",
        )

    return exclusive_lock(storage / "lock", busy)


def trigger_interval(conf: Mapping[str, str]) -> float:
    """Return the seconds between two passes, by `pipelines.trigger.interval`. Raises ConfigurationError.

    >>> trigger_interval({"pipelines.trigger.interval": "1 minute 30 seconds"})
    90.0
    """
    given = next((value for key, value in conf.items() if key.lower() == _INTERVAL), None)
    if given is None:
        return _DEFAULT_SECONDS
    text = given.strip().lower().removeprefix("interval ")
    found = _DURATION.findall(text)
    units = [_UNITS.get(unit) or _UNITS.get(unit.removesuffix("s")) for _, unit in found]
    if not found or None in units or _DURATION.sub("", text).strip():
        raise ConfigurationError(
            "INVALID_TRIGGER_INTERVAL",
            f"{_INTERVAL} is `{given}`, which is not a duration.",
            next_step="Write a number with its unit: 10 seconds, 1 minute, 1 hour.",
        )
    return sum(float(number) * unit for (number, _), unit in zip(found, units, strict=True) if unit)


@contextmanager
def stop_on_sigterm() -> Iterator[threading.Event]:
    """Let SIGTERM set the event instead of ending the process."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, before)
