"""The start of a query that reads Auto Loader: options are checked, and sources get their checkpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.options.option_validation import validate_options
from lakeward.autoloader.read_plan import (
    PLAN_OPTION,
    CheckpointOffer,
    ReadPlan,
    offer_checkpoints,
    pending_offers,
    references_metadata,
    withdraw_offers,
)
from lakeward.errors import CloudFilesError
from lakeward.spark_internals import analyzed_plan, java_query, scala_list

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
        _forget_ended_queries()
    return query


def _forget_ended_queries() -> None:
    """Free queries that claim no offers any more: the JVM keeps a query and its session until then."""
    from py4j.protocol import Py4JError

    for token, query in list(_last_queries.items()):
        try:
            is_active = query.isActive
        except Py4JError:  # of a JVM that has ended
            is_active = False
        if not is_active:
            del _last_queries[token]


def _sources(df: DataFrame) -> Iterator[tuple[str, ReadPlan]]:
    """Yield Auto Loader sources of a DataFrame with the name of their checkpoint directory."""
    streaming: list[Any] = []
    for leaf in scala_list(analyzed_plan(df).collectLeaves()):
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
