"""`start` and `toTable`: options are checked, and sources learn their checkpoint."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.binding import Binding, offer, pending, withdraw
from lakeward.autoloader.cleaning import policy_of
from lakeward.autoloader.hidden import looks_at_metadata
from lakeward.autoloader.options import check, warnings_of
from lakeward.autoloader.plan import PLAN_OPTION, ReadPlan
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

__all__ = ["start_query"]

_starting = threading.Lock()
_last_started: dict[str, Any] = {}


def start_query(df: DataFrame, start: Callable[[], StreamingQuery]) -> StreamingQuery:
    """Start a query that may read Auto Loader sources. Raises CloudFilesError for wrong options."""
    sources = list(_sources(df))
    for _, plan in sources:
        _check(plan)
    if not sources:
        return start()
    with _starting:
        for _, plan in sources:
            _wait_for_earlier(plan)
        query = start()
        root = query._jsq.streamingQuery().resolvedCheckpointRoot()
        with _stopping_on_error(query):
            checkpoint = _local_checkpoint(root, sources[0][1])
        metadata = looks_at_metadata(df)
        for token in {plan.token: None for _, plan in sources}:
            mine = [(place, plan) for place, plan in sources if plan.token == token]
            bindings = [Binding(str(checkpoint / "sources" / place), metadata) for place, _ in mine]
            offer(Path(mine[0][1].rendezvous), token, bindings)
            _last_started[token] = query
    return query


def _sources(df: DataFrame) -> Iterator[tuple[str, ReadPlan]]:
    """Auto Loader sources of a DataFrame, with the name of each one's folder in a checkpoint."""
    leaves = df._jdf.queryExecution().analyzed().collectLeaves()
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


def _check(plan: ReadPlan) -> None:
    from lakeward.autoloader.failures import at_definition

    try:
        check(plan.set_options, given_schema=plan.given_schema)
        policy_of(plan.set_options, plan.source, plan.names)
    except CloudFilesError as error:
        raise at_definition(error) from None
    for sentence in warnings_of(plan.set_options):
        warnings.warn(sentence, stacklevel=5)


def _wait_for_earlier(plan: ReadPlan) -> None:
    """One DataFrame may be started twice: the first query's notes must not be taken by the second."""
    earlier = _last_started.pop(plan.token, None)
    while earlier is not None and pending(Path(plan.rendezvous), plan.token) and earlier.isActive:
        threading.Event().wait(0.01)
    withdraw(Path(plan.rendezvous), plan.token)


def _local_checkpoint(root: str, plan: ReadPlan) -> Path:
    local = plan.names.local(root)
    if "://" in local:
        raise CloudFilesError(
            "CF_UNSUPPORTED_CHECKPOINT",
            f"The checkpoint {root} is not on a local disk; the state of the files cannot be kept there yet.",
            next_step="Use a checkpoint on a local or mounted disk.",
        )
    return Path(local)


@contextmanager
def _stopping_on_error(query: StreamingQuery) -> Iterator[None]:
    from lakeward.autoloader.failures import at_definition

    try:
        yield
    except CloudFilesError as error:
        query.stop()
        raise at_definition(error) from None
