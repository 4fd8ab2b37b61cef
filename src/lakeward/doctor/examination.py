"""Examine tables and pipelines; what cannot be read is reported, and the others are examined."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

from lakeward.atomic_files import read_regular
from lakeward.delta_log import read_table
from lakeward.doctor.diagnosis import Examination
from lakeward.doctor.pipeline_rules import grown_checkpoints, recomputed_views, stored_updates
from lakeward.doctor.query_rules import query_diagnoses
from lakeward.doctor.spark_events import read_application
from lakeward.doctor.table_rules import table_diagnoses
from lakeward.errors import LakewardError
from lakeward.file_uris import local_folder
from lakeward.object_metadata import OBJECTS
from lakeward.quoting import quote_identifier, quote_name
from lakeward.report import StoredEvents


def find_tables(warehouse: Path) -> Iterator[tuple[str, str, str]]:
    """Yield catalog, schema and name of every Delta table of a warehouse, in order."""
    for log in sorted(warehouse.glob("*/*/*/_delta_log")):
        catalog, schema, name = log.parent.parts[-3:]
        # Folders with a dot are Spark's own or lakeward's.
        if not any(each.startswith(".") for each in (catalog, schema, name)):
            yield catalog, schema, name


def find_external_tables(warehouse: Path) -> Iterator[tuple[tuple[str, str, str], Path]]:
    """Yield name and folder of the Delta tables with a LOCATION on this disk, in order."""
    for file in sorted(warehouse.glob(f"*/*/{OBJECTS}/*.table.json")):
        try:
            folder = local_folder(json.loads(read_regular(file)).get("location") or "")
        except (OSError, ValueError, AttributeError):
            continue
        if folder is not None and (folder / "_delta_log").is_dir():
            catalog, schema = file.parts[-4:-2]
            yield (catalog, schema, file.name.removesuffix(".table.json")), folder


def examine_table(
    examination: Examination, folder: Path, name: tuple[str, ...] = (), *, now: float | None = None
) -> None:
    """Add a table's findings to an examination.

    Args:
        examination: Receives the subject, the findings, or why the table cannot be read.
        folder: Folder of the table.
        name: Its catalog, schema and name; without them statements name the folder.
        now: The time in seconds of the epoch, default: the current one.
    """
    subject = ".".join(name) if name else str(folder)
    table = quote_name(name) if name else f"delta.{quote_identifier(str(folder.absolute()))}"
    examination.subjects.append(subject)
    try:
        state = read_table(folder)
        found = list(table_diagnoses(state, subject, table, time.time() if now is None else now))
    except LakewardError as error:
        examination.unreadable[subject] = str(error)
    except OSError as error:
        examination.unreadable[subject] = f"[DELTA_TABLE_UNREADABLE] {error.strerror or type(error).__name__}"
    else:
        examination.diagnoses.extend(found)


def examine_spark_events(examination: Examination, path: Path) -> None:
    """Add the findings on the queries and streams of an application.

    Args:
        examination: Receives the subject, the findings, or why the events cannot be read.
        path: Event log of Spark: a file, or a folder of files.
    """
    subject = f"Spark events {path.name}"
    examination.subjects.append(subject)
    try:
        events = read_application(path)
        found = list(query_diagnoses(events))
    except LakewardError as error:
        examination.unreadable[subject] = str(error)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        examination.unreadable[subject] = f"[SPARK_EVENTS_UNREADABLE] {reason}"
    else:
        examination.diagnoses.extend(found)
        # One is the line at which a killed application ended.
        if events.damaged_lines > 1:
            count = events.damaged_lines
            examination.unreadable[subject] = (
                f"[SPARK_EVENTS_UNREADABLE] {count} lines are not events of Spark."
            )


def examine_pipeline(examination: Examination, storage: Path, stored: StoredEvents | None = None) -> None:
    """Add the findings on a pipeline's views and checkpoints.

    Args:
        examination: Receives the subject, the findings, or why the pipeline cannot be read.
        storage: The pipeline's folder, with `event_log` and `checkpoints`.
        stored: Its newest updates, where the caller has read them.
    """
    subject = f"pipeline {storage.name}"
    examination.subjects.append(subject)
    try:
        stored = stored_updates(storage) if stored is None else stored
        found = [*recomputed_views(stored), *grown_checkpoints(storage)]
    except OSError as error:
        examination.unreadable[subject] = f"[EVENT_LOG_UNREADABLE] {error.strerror or type(error).__name__}"
    else:
        examination.diagnoses.extend(found)
        if stored.unreadable:
            examination.unreadable[subject] = f"[EVENT_LOG_UNREADABLE] {stored.unreadable[0]}"
