"""Summarize a target of a bundle: its resources, their location, and when jobs start."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lakeward.bundle.configuration.resource_kinds import RESOURCE_KINDS
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.bundle.schedules import Timer, timers_of
from lakeward.quartz_cron import CronError


def summarize_bundle(
    bundle: Bundle,
    *,
    now: datetime | None = None,
    host: str | None = None,
    deployed: Mapping[str, str] = {},
) -> dict[str, Any]:
    """Return the summary of `bundle` as one object.

    Args:
        bundle: The target to summarise.
        now: With it, schedules that are not paused have their next times.
        host: The workspace that the bundle is deployed to, if it is known.
        deployed: Ids of deployed resources by `<kind>.<key>`; other jobs and pipelines have the id that
            `lakeward run` uses.
    """
    workspace = bundle.config["workspace"]
    summary = {
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
    if host:
        summary["host"] = host
    for name, identifier in deployed.items():
        kind, _, key = name.partition(".")
        if key in summary["resources"].get(kind, {}):
            shown = summary["resources"][kind][key]
            # Ids of jobs are numbers.
            shown["id"] = int(identifier) if kind == "jobs" else identifier
            shown["deployed"] = True
    return summary


def as_lines(summary: Mapping[str, Any]) -> list[str]:
    """Return what `summarize_bundle` gave as lines for people."""
    lines = [
        f"Bundle  {summary['name']}",
        f"Target  {summary['target']}" + (f" ({summary['mode']})" if summary["mode"] else ""),
    ]
    lines += [f"Host    {summary['host']}"] if summary.get("host") else []
    lines += [f"User    {summary['user']}", f"Path    {summary['root_path']}"]
    for kind, resources in summary["resources"].items():
        title = RESOURCE_KINDS[kind].title if kind in RESOURCE_KINDS else kind
        lines += ["", f"{title}:"]
        for key, resource in resources.items():
            left_out = "" if resource["deployed_locally"] else "  (not deployed to a local workspace)"
            lines.append(f"  {key}: {resource['name']}{left_out}")
            if "deployed" in resource:
                lines.append(f"    id: {resource['id']}")
            for timer in resource.get("starts") or ():
                paused = ", paused" if timer["paused"] else ""
                lines.append(f"    starts: {timer['when']}{paused}")
                lines += [f"      next: {moment}" for moment in timer["next"]]
            lines += [f"    {field}: {resource[field]}" for field in ("tasks", "writes") if field in resource]
    return lines


def _resource(
    bundle: Bundle, kind: str, key: str, resource: Mapping[str, Any], now: datetime | None
) -> dict[str, Any]:
    summary: dict[str, Any] = {"name": _name(kind, resource) or key}
    summary["deployed_locally"] = kind in RESOURCE_KINDS and RESOURCE_KINDS[kind].deployed
    if kind in ("jobs", "pipelines"):
        summary["id"] = bundle.id_of(kind, key)
        run_as = resource.get("run_as") or {}
        if run_as:
            summary["run_as"] = next(iter(run_as.values()))
    if kind == "jobs":
        summary["starts"] = [
            {"kind": timer.kind, "when": str(timer), "paused": timer.paused, "next": _next(timer, now)}
            for timer in timers_of(resource)
        ]
        summary["tasks"] = ", ".join(str(task.get("task_key")) for task in resource.get("tasks") or ())
    if kind == "pipelines":
        summary["writes"] = f"{resource.get('catalog')}.{resource.get('schema') or resource.get('target')}"
    return summary


def _next(timer: Timer, now: datetime | None) -> list[str]:
    if now is None or timer.paused:
        return []
    try:
        return [moment.isoformat() for moment in timer.next_times(now)]
    except CronError:
        return []


def _name(kind: str, resource: Mapping[str, Any]) -> str:
    parts = RESOURCE_KINDS[kind].full_name if kind in RESOURCE_KINDS else ()
    named = ".".join(str(resource[part]) for part in parts if resource.get(part))
    # Some kinds have a display name or a title instead of a name.
    names = (named, *(resource.get(field) for field in ("name", "display_name", "title", "cluster_name")))
    return next((str(name) for name in names if name), "")
