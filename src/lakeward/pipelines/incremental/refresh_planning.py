"""Plans the refresh of a view: what its sources changed, and which technique is the cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.graph.error_location import error_message
from lakeward.pipelines.incremental.change_set import ChangeSet, Source
from lakeward.pipelines.incremental.delta_rules import DeltaRules
from lakeward.pipelines.incremental.eligibility import Eligibility, check_eligibility
from lakeward.pipelines.incremental.refresh_plan import (
    Issue,
    RefreshPlan,
    ViewUpdate,
    recompute,
    require_incremental,
)
from lakeward.pipelines.incremental.reproducibility import break_ties
from lakeward.pipelines.incremental.seen_versions import (
    SeenVersions,
    describe_view,
    seen_versions_in,
    with_sources,
)
from lakeward.pipelines.incremental.technique_choice import choose_technique, estimate
from lakeward.pipelines.incremental.view_plan import ViewPlan, frame_of, read_view_plan
from lakeward.pipelines.incremental.view_refresh import ViewRefresh
from lakeward.pipelines.storage.delta_tables import StoredTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def plan_refresh(
    query: DataFrame,
    dataset: Dataset,
    stored: StoredTable | None,
    update: ViewUpdate,
    *,
    has_observed_views: bool,
) -> ViewRefresh:
    """Choose the technique for a view.

    Args:
        query: The view's query.
        dataset: The view.
        stored: Its table, None if it does not exist.
        update: The update that refreshes it.
        has_observed_views: Whether the query reads views with expectations.

    Returns:
        The planned refresh; a complete recomputation with the reason if planning fails.

    Raises:
        PipelineError: The refresh policy forbids what is possible.
    """
    try:
        view = read_view_plan(query)
        eligibility = check_eligibility(view, dataset.options)
        if has_observed_views:
            text = "The view reads a view with expectations, which are counted over all rows."
            eligibility = Eligibility((*eligibility.issues, Issue("EXPECTATIONS_NOT_SUPPORTED", text)))
        if not eligibility.is_eligible:
            require_incremental(dataset, eligibility.issues, is_eligible=False)
            return ViewRefresh(recompute(*eligibility.issues), None, query, view, eligibility, [])
        return _plan_eligible(query, view, eligibility, dataset, stored, update)
    except PipelineError:
        raise
    except Exception as error:  # noqa: BLE001  # a view that cannot be planned can be recomputed
        issue = Issue("PLAN_NOT_INCREMENTALIZABLE", f"The refresh cannot be planned: {error_message(error)}")
        require_incremental(dataset, (issue,), is_eligible=False)
        return ViewRefresh(recompute(issue), None, query)


def _plan_eligible(
    query: DataFrame,
    view: ViewPlan,
    eligibility: Eligibility,
    dataset: Dataset,
    stored: StoredTable | None,
    update: ViewUpdate,
) -> ViewRefresh:
    now = round(update.now() * 1_000_000)
    if eligibility.ordered:
        break_ties(query.sparkSession, eligibility.ordered)
        view = replace(view, identity=f"{view.identity} ordered {len(eligibility.ordered)}")
    described = describe_view(query, view, dataset, code=update.code, conf=update.conf)
    sources = [Source(query.sparkSession, node) for node in view.sources]
    versions = [source.version() for source in sources]
    seen = with_sources(described, versions, time=now if view.is_temporal else None)
    before = _previous_versions(stored, view)
    times = now, now if before is None or before.time is None else before.time
    issue = _initial_issue(described, before, stored, full_refresh=update.full_refresh)
    changes = _changes_of(sources, None if issue else before)
    rules = DeltaRules(query.sparkSession, view.root, changes, times)
    pinned = frame_of(query.sparkSession, rules.state(view.root))
    size = int(stored.size) if stored is not None else 0
    refresh = ViewRefresh(RefreshPlan("NO_OP"), seen, pinned, view, eligibility, changes, times, size)
    details = [_source_details(source, change) for source, change in zip(sources, changes, strict=True)]
    issues = [issue] if issue else [change.issue for change in changes if change.issue]
    if not issues and dataset.options.refresh_policy == "full":
        issues = [Issue("DATA_HAS_CHANGED", "The refresh policy is FULL.")]
    require_incremental(dataset, tuple(issues), is_eligible=True)
    if issues:
        cost = estimate("COMPLETE_RECOMPUTE", changes, size)
        refresh.plan = recompute(*issues, cost=cost, sources=details)
        return refresh
    moves = rules.has_moved_filter(view.root)
    commits = stored.commits if stored is not None else tuple
    refresh.plan = choose_technique(view, eligibility, changes, size, dataset, moves=moves, commits=commits)
    refresh.plan.sources = details
    require_incremental(dataset, refresh.plan.issues, is_eligible=True)
    return refresh


def _previous_versions(stored: StoredTable | None, view: ViewPlan) -> SeenVersions | None:
    """Return what the update that wrote the view has read; None if that is unknown.

    A query that has begun or ceased to read the time is another one.
    """
    before = seen_versions_in(stored.last_write().user_metadata) if stored is not None else None
    return before if before is not None and (before.time is not None) == view.is_temporal else None


def _changes_of(sources: Sequence[Source], before: SeenVersions | None) -> list[ChangeSet]:
    """Return the changes of each source since the versions `before`; unknown ones without them."""
    if before is None:
        return [ChangeSet("UNKNOWN", source.pinned(), total=source.size) for source in sources]
    known = before.at([source.path for source in sources])
    return [source.changes_since(each) for source, each in zip(sources, known, strict=True)]


def _initial_issue(
    view: SeenVersions, before: SeenVersions | None, stored: StoredTable | None, *, full_refresh: bool
) -> Issue | None:
    """Return why the view has to be computed as a whole whatever changed in its sources."""
    if stored is None:
        return Issue("CHANGE_SET_MISSING", "The view is computed for the first time.")
    if full_refresh:
        return Issue("CHANGE_SET_MISSING", "A full refresh was requested.")
    if before is None:
        text = "The view's latest commit is not that of an update which recorded what it read."
        return Issue("CHANGE_SET_MISSING", text)
    if view.query != before.query:
        return Issue("QUERY_FINGERPRINT_CHANGED", "The view's query changed.")
    if view.declaration != before.declaration:
        return Issue("QUERY_FINGERPRINT_CHANGED", "The view's declaration changed.")
    if view.settings != before.settings:
        return Issue("CONFIGURATION_CHANGED", "Settings that may change the result changed.")
    return None


def _source_details(source: Source, change: ChangeSet) -> dict[str, Any]:
    kinds = {"APPENDED": "APPEND_ONLY", "CHANGED": "GENERAL_CHANGE"}
    return {
        "table_name": source.name,
        "table_id": source.version().table_id,
        "table_change_type": f"TABLE_CHANGE_TYPE_{kinds.get(change.kind, 'UNKNOWN')}",
        "full_size": change.total,
        "change_size": change.bytes,
    }
