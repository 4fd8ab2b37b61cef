"""Which pipeline a key means, and where its tables and its events are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.cli.command_context import home_of_pipeline

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings

__all__ = ["first_pipeline", "pipeline_key", "prefix"]


def first_pipeline(bundle: Bundle) -> str | None:
    """The pipeline that stands first in the bundle."""
    return next(iter(bundle.pipelines), None)


def pipeline_key(bundle: Bundle, key: str) -> str | None:
    """The pipeline `key`, or the last one that the job `key` refreshes; None when it refreshes none."""
    if key in bundle.pipelines:
        return key
    tasks = bundle.job(key).get("tasks") or []
    ids = [task["pipeline_task"].get("pipeline_id") for task in tasks if task.get("pipeline_task")]
    return bundle.key_of("pipelines", ids[-1]) if ids else None


def prefix(bundle: Bundle, key: str | None, settings: Settings) -> str:
    """What goes before the names of pipeline `key` in `lakeward sql`; nothing for the first pipeline."""
    if key is None or key == first_pipeline(bundle):
        return ""
    catalog, schema = home_of_pipeline(bundle.pipelines[key], settings)
    return f"{catalog}.{schema}."
