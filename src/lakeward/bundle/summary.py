"""A target of a bundle at a glance: what it deploys, where to, and when its jobs start."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lakeward.bundle.model import Bundle
from lakeward.bundle.quartz import CronError
from lakeward.bundle.timers import timers_of

__all__ = ["as_markdown", "as_text", "summarised"]

_TITLES = {
    "jobs": "Jobs",
    "pipelines": "Pipelines",
    "schemas": "Schemas",
    "volumes": "Volumes",
    "secret_scopes": "Secret scopes",
}


def summarised(bundle: Bundle, *, now: datetime | None = None) -> dict[str, Any]:
    """Return the summary as one object; with `now`, schedules that are not paused have their next times."""
    workspace = bundle.config["workspace"]
    return {
        "name": bundle.name,
        "target": bundle.target,
        "mode": bundle.mode,
        "user": workspace["current_user"]["userName"],
        "root_path": workspace["root_path"],
        "resources": {
            kind: {key: _resource(bundle, kind, key, resource, now) for key, resource in resources.items()}
            for kind, resources in (bundle.config.get("resources") or {}).items()
            if resources
        },
    }


def as_text(told: Mapping[str, Any]) -> str:
    """Return what `summarised` gave as text for people."""
    lines = [
        f"Bundle  {told['name']}",
        f"Target  {told['target']}" + (f" ({told['mode']})" if told["mode"] else ""),
    ]
    lines += [f"User    {told['user']}", f"Path    {told['root_path']}"]
    for kind, resources in told["resources"].items():
        lines += ["", f"{_TITLES.get(kind, kind)}:"]
        for key, resource in resources.items():
            lines.append(f"  {key}: {resource['name']}")
            for timer in resource.get("starts") or ():
                paused = ", paused" if timer["paused"] else ""
                lines.append(f"    starts: {timer['when']}{paused}")
                lines += [f"      next: {moment}" for moment in timer["next"]]
            lines += [f"    {field}: {resource[field]}" for field in ("tasks", "writes") if field in resource]
    return "\n".join(lines)


def as_markdown(told: Mapping[str, Any]) -> str:
    """Return what `summarised` gave as a section of a page."""
    mode = f", mode {told['mode']}" if told["mode"] else ""
    lines = [f"## `{told['target']}`{mode}", "", f"Deployed to `{told['root_path']}`.", ""]
    lines += ["| resource | name | what |", "|---|---|---|"]
    for kind, resources in told["resources"].items():
        for key, resource in resources.items():
            facts = [
                f"starts: {timer['when']}{', paused' if timer['paused'] else ''}"
                for timer in resource.get("starts") or ()
            ]
            facts += [
                f"{field}: {resource[field]}" for field in ("tasks", "writes", "run_as") if field in resource
            ]
            lines.append(f"| {kind}.{key} | `{resource['name']}` | {'; '.join(facts)} |")
    return "\n".join(lines) + "\n"


def _resource(
    bundle: Bundle, kind: str, key: str, resource: Mapping[str, Any], now: datetime | None
) -> dict[str, Any]:
    told: dict[str, Any] = {"name": _name(kind, resource) or key}
    if kind in ("jobs", "pipelines"):
        told["id"] = bundle.id_of(kind, key)
        run_as = resource.get("run_as") or {}
        if run_as:
            told["run_as"] = next(iter(run_as.values()))
    if kind == "jobs":
        told["starts"] = [
            {"kind": timer.kind, "when": str(timer), "paused": timer.paused, "next": _next(timer, now)}
            for timer in timers_of(resource)
        ]
        told["tasks"] = ", ".join(str(task.get("task_key")) for task in resource.get("tasks") or ())
    if kind == "pipelines":
        told["writes"] = f"{resource.get('catalog')}.{resource.get('schema') or resource.get('target')}"
    return told


def _next(timer: Any, now: datetime | None) -> list[str]:
    if now is None or timer.paused:
        return []
    try:
        return [moment.isoformat() for moment in timer.next_times(now)]
    except CronError:
        return []


def _name(kind: str, resource: Mapping[str, Any]) -> str:
    parts = {"schemas": ("catalog_name", "name"), "volumes": ("catalog_name", "schema_name", "name")}
    return ".".join(str(resource[part]) for part in parts.get(kind, ("name",)) if resource.get(part))
