"""Which pipeline a key means, and where its tables and its events are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.cli.command_context import home_of_pipeline

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings


def pipeline_key(bundle: Bundle, key: str) -> str | None:
    """Return the pipeline `key`, or the last one that the job `key` refreshes; None if it refreshes none."""
    keys = pipeline_keys(bundle, key)
    return keys[-1] if keys else None


def pipeline_keys(bundle: Bundle, key: str) -> list[str]:
    """Return the pipeline `key`, or those that the job `key` refreshes, in the order of its tasks."""
    if key in bundle.pipelines:
        return [key]
    tasks = bundle.job(key).get("tasks") or []
    ids = [task["pipeline_task"].get("pipeline_id") for task in tasks if task.get("pipeline_task")]
    found = (bundle.key_of("pipelines", identifier) for identifier in ids)
    return [each for each in found if each is not None]


def name_prefix(bundle: Bundle, key: str | None, settings: Settings) -> str:
    """Return the prefix of names of pipeline `key` in `lakeward sql`; empty for the first pipeline."""
    if key is None or key == next(iter(bundle.pipelines), None):
        return ""
    catalog, schema = home_of_pipeline(bundle.pipelines[key], settings)
    return f"{catalog}.{schema}."
