"""`start` and `toTable`: validate options, then hand checkpoints over to the sources.

Spark does not pass the checkpoint to a Python stream reader, and the reader runs in a separate process.
`load` puts a token into the source's options, `start` writes a file named by that token into a directory on
the driver's machine, and the reader claims it before its first offset.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.options.option_values import option_warnings, validate_options
from lakeward.autoloader.read_plan import PLAN_OPTION, ReadPlan, references_metadata
from lakeward.errors import CloudFilesError
from lakeward.spark_internals import analyzed_plan, java_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


# Read by InputFileName.java in the batches of the query.
_BATCHES = "spark.sql.lakeward.autoLoader"
_start_lock = threading.Lock()
_last_queries: dict[str, Any] = {}


def start_query(df: DataFrame, start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """Start a query that may read Auto Loader sources; raise CloudFilesError for invalid options."""
    sources = list(_sources(df))
    for _, plan in sources:
        _validate(plan)
    if not sources:
        return start()
    with _start_lock:
        for _, plan in sources:
            _await_earlier_query(plan)
        query = start()
        java = java_query(query)
        java.sparkSessionForStream().conf().set(_BATCHES, "true")
        root = java.resolvedCheckpointRoot()
        with _stop_on_error(query):
            checkpoint = _local_checkpoint(root, sources[0][1])
        metadata = references_metadata(df)
        for token in {plan.token: None for _, plan in sources}:
            mine = [(number, plan) for number, plan in sources if plan.token == token]
            bindings = [CheckpointOffer(str(checkpoint / "sources" / number), metadata) for number, _ in mine]
            offer_checkpoints(Path(mine[0][1].handoff_dir), token, bindings)
            _last_queries[token] = query
    return query


def _sources(df: DataFrame) -> Iterator[tuple[str, ReadPlan]]:
    """Yield Auto Loader sources of a DataFrame with the name of their checkpoint directory."""
    leaves = analyzed_plan(df).collectLeaves()
    streaming: list[Any] = []
    for index in range(leaves.size()):
        leaf = leaves.apply(index)
        if not leaf.getClass().getSimpleName().startswith("Streaming") or any(
            leaf.equals(s) for s in streaming
        ):
            continue
        streaming.append(leaf)
        if leaf.getClass().getSimpleName() != "StreamingRelationV2":
            continue
        plan = leaf.extraOptions().get(PLAN_OPTION)
        if plan is not None:
            name = leaf.sourceIdentifyingName().nameOpt()
            yield name.get() if name.isDefined() else str(len(streaming) - 1), ReadPlan.from_json(plan)


def _validate(plan: ReadPlan) -> None:
    from lakeward.autoloader.error_translation import to_analysis_exception

    try:
        validate_options(plan.user_options, has_user_schema=plan.has_user_schema)
        if plan.user_options.cleans_source:
            from lakeward.autoloader.streams.source_cleaning import cleaning_policy

            cleaning_policy(plan.user_options, plan.source, plan.names)
    except CloudFilesError as error:
        raise to_analysis_exception(error) from None
    for sentence in option_warnings(plan.user_options):
        warnings.warn(sentence, stacklevel=5)


def _await_earlier_query(plan: ReadPlan) -> None:
    """Wait until an earlier query of the same DataFrame has claimed its offers."""
    earlier = _last_queries.pop(plan.token, None)
    while earlier is not None and pending_offers(Path(plan.handoff_dir), plan.token) and earlier.isActive:
        threading.Event().wait(0.01)
    withdraw_offers(Path(plan.handoff_dir), plan.token)


def _local_checkpoint(root: str, plan: ReadPlan) -> Path:
    local = plan.names.local(root)
    if "://" in local:
        raise CloudFilesError(
            "CF_UNSUPPORTED_CHECKPOINT",
            f"The checkpoint {root} is not on a local disk, which Auto Loader's state requires.",
            next_step="Use a checkpoint on a local or mounted disk.",
        )
    return Path(local)


@contextmanager
def _stop_on_error(query: StreamingQuery) -> Iterator[None]:
    from lakeward.autoloader.error_translation import to_analysis_exception

    try:
        yield
    except CloudFilesError as error:
        query.stop()
        raise to_analysis_exception(error) from None


@cache
def handoff_directory() -> Path:
    """Return a directory of this process, removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="lakeward-cloudfiles-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


_TIMEOUT = 120.0


@dataclass(frozen=True)
class CheckpointOffer:
    """The state directory `<checkpoint>/sources/<n>`, and whether the query references `_metadata`."""

    state: str
    metadata: bool = True


def offer_checkpoints(handoff_dir: Path, token: str, bindings: list[CheckpointOffer]) -> None:
    """Write offers for the sources with this token; they are claimed in this order."""
    for number, binding in enumerate(bindings):
        draft = handoff_dir / f"{token}.draft"
        draft.write_text(json.dumps(asdict(binding)))
        draft.rename(handoff_dir / f"{token}.{number:04d}.note")


def pending_offers(handoff_dir: Path, token: str) -> list[Path]:
    """Return unclaimed offers in order."""
    return sorted(handoff_dir.glob(f"{token}.*.note"))


def withdraw_offers(handoff_dir: Path, token: str) -> None:
    """Remove unclaimed offers."""
    for note in pending_offers(handoff_dir, token):
        note.unlink(missing_ok=True)


def claim_checkpoint(handoff_dir: Path, token: str, *, patience: float = _TIMEOUT) -> CheckpointOffer:
    """Claim the next offer, waiting for it; raise CF_NO_CHECKPOINT on timeout."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        for note in pending_offers(handoff_dir, token):
            mine = note.with_suffix(f".{os.getpid()}")
            try:
                note.rename(mine)
            except FileNotFoundError:
                continue
            binding = CheckpointOffer(**json.loads(mine.read_text()))
            mine.unlink()
            return binding
        time.sleep(0.005)
    raise CloudFilesError(
        "CF_NO_CHECKPOINT",
        "The source has no checkpoint: the stream was not started by start() or toTable().",
        next_step="Start the stream with df.writeStream…start() or toTable(…).",
    )
