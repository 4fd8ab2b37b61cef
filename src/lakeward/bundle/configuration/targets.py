"""The target of a command: its overrides, its presets, which change all resources, and its mode (BN-2.4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lakeward.bundle.configuration.merge import merge
from lakeward.bundle.configuration.node import Node, failure, lift, plain
from lakeward.errors import BundleError
from lakeward.suggestions import unknown_name_hint

_MERGED = ("bundle", "workspace", "artifacts", "resources", "sync", "presets", "experimental", "permissions")


def choose_target(tree: Node, requested: str | None) -> str:
    """Return the name of the target to use: `requested`, else the default one, else the only one.

    A bundle without targets has the single target `default`. Raises BundleError when `requested` does not
    exist (TARGET_UNKNOWN), or for several targets without a default (TARGET_AMBIGUOUS).
    """
    targets = tree.section("targets").children
    if requested is not None:
        if requested in targets or (not targets and requested == "default"):
            return requested
        raise BundleError(
            "TARGET_UNKNOWN",
            f"This bundle has no target `{requested}`.",
            next_step=unknown_name_hint(requested, targets, what="targets"),
        )
    defaults = [
        name for name, target in targets.items() if (flag := target.get("default")) and flag.value is True
    ]
    if len(defaults) > 1:
        message = f"more than one target is the default: {', '.join(defaults)}."
        raise failure("TARGET_AMBIGUOUS", targets[defaults[1]].position, message)
    if defaults:
        return defaults[0]
    if len(targets) > 1:
        raise BundleError(
            "TARGET_AMBIGUOUS",
            f"None of the targets is the default: {', '.join(sorted(targets))}.",
            next_step="Name one with -t, or write `default: true` into one of them.",
        )
    return next(iter(targets), "default")


def select_target(tree: Node, name: str) -> Node:
    """Return `tree` with the overrides of target `name` laid over it, without `targets` and `include`.

    `bundle.target`, `bundle.mode` and `bundle.git` describe the selected target; `bundle.environment` is what
    `bundle.target` was called before 2023.
    """
    target = tree.section("targets").children.get(name) or Node({}, tree.position)
    result = {key: child for key, child in tree.children.items() if key not in ("targets", "include")}
    for key in _MERGED:
        over = target.get(key)
        if over is not None:
            result[key] = merge(result[key], over) if key in result else over
    if (run_as := target.get("run_as")) is not None:
        result["run_as"] = run_as
    own = {key: lift(name, target.position) for key in ("target", "environment")}
    for key in ("mode", "git"):
        if (setting := target.get(key)) is not None:
            own[key] = setting
    bundle = result.get("bundle", Node({}, tree.position))
    result["bundle"] = merge(bundle, Node(own, target.position))
    result["variables"] = _variables(result.get("variables", Node({}, tree.position)), target)
    return Node(result, tree.position)


def _variables(declared: Node, target: Node) -> Node:
    result = dict(declared.children)
    for name, override in target.section("variables").children.items():
        if name not in result:
            message = f"the variable `{name}` gets a value here but is not declared under `variables:`."
            next_step = unknown_name_hint(name, result, what="variables")
            raise failure("VARIABLE_UNKNOWN", override.position, message, next_step=next_step)
        base = result[name].children
        # A mapping is either the long form (`default:`, `lookup:` …) or the value of a complex variable.
        given = set(override.children)
        long_form = (given == {"lookup"} or "default" in given or given == {"lookup", "description"}) and (
            given <= {"default", "description", "lookup", "type"}
        )
        over = override.children if long_form else {"default": override}
        # The target's default replaces a lookup, and the other way round.
        replaced = {"default": "lookup", "lookup": "default"}
        kept = {key: child for key, child in base.items() if replaced.get(key) not in over}
        result[name] = Node({**kept, **over}, result[name].position)
    return Node(result, declared.position)


@dataclass(frozen=True)
class Presets:
    """Default settings of every resource; None leaves resources unchanged."""

    name_prefix: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    trigger_pause_status: str | None = None
    jobs_max_concurrent_runs: int | None = None
    pipelines_development: bool | None = None


def presets_of(tree: Node) -> Presets:
    """Return the presets of the selected target: the mode's, with those of the configuration over them.

    Raises BundleError(PRESET_INVALID) for a pause status that is neither PAUSED nor UNPAUSED.
    """
    bundle, node = tree.children["bundle"], tree.get("presets")
    mode = bundle.get("mode")
    values: dict[str, Any] = {}
    if mode is not None and mode.value == "development":
        user = tree.children["workspace"].children["current_user"].children["short_name"].value
        values = {
            "name_prefix": f"[dev {user}] ",
            "tags": {"dev": user},
            "trigger_pause_status": "PAUSED",
            "jobs_max_concurrent_runs": 4,
            "pipelines_development": True,
        }
    if node is not None:
        own = {key: value for key, value in plain(node).items() if value is not None}
        status = node.get("trigger_pause_status")
        if status is not None and status.value not in ("PAUSED", "UNPAUSED"):
            message = f"`{status.value}` is not a pause status."
            raise failure("PRESET_INVALID", status.position, message, next_step="Write PAUSED or UNPAUSED.")
        tags = {**values.get("tags", {}), **own.get("tags", {})}
        values = {
            **values,
            **{key: own[key] for key in own if key in Presets.__dataclass_fields__},
            "tags": tags,
        }
    return Presets(**values)


def apply_presets(tree: Node, presets: Presets) -> Node:
    """Return `tree` with `presets` applied to its resources of these kinds."""
    changes: dict[str, Callable[[Node, Presets], Node]] = {
        "dashboards": _dashboard,
        "jobs": _job,
        "pipelines": _pipeline,
        "schemas": _schema,
        "registered_models": _schema,
    }
    skip = tree.section("experimental").get("skip_name_prefix_for_schema")
    if skip is not None and skip.value is True:
        del changes["schemas"]
    resources = tree.get("resources")
    if resources is None:
        return tree
    changed = {
        kind: Node({key: change(item, presets) for key, item in named.children.items()}, named.position)
        if (change := changes.get(kind)) is not None
        else named
        for kind, named in resources.children.items()
    }
    return Node({**tree.children, "resources": Node(changed, resources.position)}, tree.position)


def _job(job: Node, presets: Presets) -> Node:
    entries = _prefixed(job, presets.name_prefix)
    _tag(entries, job, presets)
    if presets.jobs_max_concurrent_runs is not None and job.get("max_concurrent_runs") is None:
        entries["max_concurrent_runs"] = lift(presets.jobs_max_concurrent_runs, job.position)
    if presets.trigger_pause_status is not None:
        for key in ("schedule", "trigger", "continuous"):
            timer = job.get(key)
            if timer is not None and timer.get("pause_status") is None:
                status = lift(presets.trigger_pause_status, timer.position)
                entries[key] = Node({**timer.children, "pause_status": status}, timer.position)
    return Node(entries, job.position)


def _pipeline(pipeline: Node, presets: Presets) -> Node:
    entries = _prefixed(pipeline, presets.name_prefix)
    _tag(entries, pipeline, presets)
    if presets.pipelines_development is not None and pipeline.get("development") is None:
        entries["development"] = lift(presets.pipelines_development, pipeline.position)
    if presets.trigger_pause_status == "PAUSED" and pipeline.get("continuous") is not None:
        entries["continuous"] = lift(False, pipeline.children["continuous"].position)
    return Node(entries, pipeline.position)


def _dashboard(dashboard: Node, presets: Presets) -> Node:
    return Node(_prefixed(dashboard, presets.name_prefix, "display_name"), dashboard.position)


def _schema(schema: Node, presets: Presets) -> Node:
    # A schema's name cannot contain `[dev ann] `, but `dev_ann_`.
    plain_prefix = re.sub(r"[^a-z0-9]+", "_", presets.name_prefix.lower()).strip("_")
    return Node(_prefixed(schema, f"{plain_prefix}_" if plain_prefix else ""), schema.position)


def _prefixed(resource: Node, prefix: str, field: str = "name") -> dict[str, Node]:
    entries = dict(resource.children)
    name = resource.get(field)
    if prefix and name is not None:
        entries[field] = Node(f"{prefix}{name.value}", name.position)
    return entries


def _tag(entries: dict[str, Node], resource: Node, presets: Presets) -> None:
    if presets.tags:
        own = resource.section("tags")
        entries["tags"] = Node({**lift(presets.tags, own.position).value, **own.children}, own.position)


_SERVICE_PRINCIPAL = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def require_mode(tree: Node, *, explicit_root: bool) -> None:
    """Raise BundleError when the resolved `tree` breaks a rule of its mode (MODE_UNKNOWN, MODE_VIOLATED).

    `explicit_root`: the configuration sets `workspace.root_path`.
    """
    mode = tree.children["bundle"].get("mode")
    if mode is None:
        return
    if mode.value == "development":
        _development(tree)
    elif mode.value == "production":
        _production(tree, mode, explicit_root=explicit_root)
    else:
        message = f"`{mode.value}` is not a mode."
        raise failure("MODE_UNKNOWN", mode.position, message, next_step="Write development or production.")


def _development(tree: Node) -> None:
    workspace = tree.children["workspace"]
    user = workspace.children["current_user"].children
    names = (user["userName"].value, user["short_name"].value)
    for key in ("root_path", "file_path", "artifact_path", "state_path"):
        path = workspace.children[key]
        if not any(name in str(path.value) for name in names):
            message = f"workspace.{key} is `{path.value}`, which is shared by all users."
            next_step = "In mode development it has to contain ${workspace.current_user.userName}."
            raise failure("MODE_VIOLATED", path.position, message, next_step=next_step)


def _production(tree: Node, mode: Node, *, explicit_root: bool) -> None:
    for key, pipeline in tree.section("resources", "pipelines").children.items():
        development = pipeline.get("development")
        if development is not None and development.value is True:
            message = f"the pipeline {key} has `development: true`, which mode production refuses."
            raise failure("MODE_VIOLATED", development.position, message)
    if explicit_root:
        return
    user = tree.children["workspace"].children["current_user"].children["userName"].value
    jobs = tree.section("resources", "jobs").children
    if _SERVICE_PRINCIPAL.fullmatch(str(user)) or (jobs and all(job.get("run_as") for job in jobs.values())):
        return
    message = "a target in mode production needs an explicit workspace.root_path."
    next_step = "Otherwise each person who deploys makes a copy of everything below their own home."
    raise failure("MODE_VIOLATED", mode.position, message, next_step=next_step)
