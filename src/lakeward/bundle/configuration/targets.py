"""Which target is meant, and the configuration with its overrides laid over."""

from __future__ import annotations

from lakeward.bundle.configuration.merge import merge
from lakeward.bundle.configuration.node import Node, failure, lift
from lakeward.errors import BundleError
from lakeward.suggestions import unknown_name_hint

_MERGED = ("bundle", "workspace", "artifacts", "resources", "sync", "presets", "experimental", "permissions")
_REPLACED = ("run_as",)


def choose_target(tree: Node, requested: str | None) -> str:
    """Return the name of the target to use: `requested`, else the default one, else the only one.

    A bundle without targets has the single target `default`. Raises BundleError when `requested` does not
    exist (TARGET_UNKNOWN), or for several targets without a default (TARGET_AMBIGUOUS).
    """
    targets = (tree.get("targets") or Node({}, tree.position)).children
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

    `bundle.target`, `bundle.mode` and `bundle.git` describe the selected target.
    """
    targets = tree.get("targets") or Node({}, tree.position)
    target = targets.children.get(name) or Node({}, tree.position)
    result = {key: child for key, child in tree.children.items() if key not in ("targets", "include")}
    for key in _MERGED:
        over = target.get(key)
        if over is not None:
            result[key] = merge(result[key], over) if key in result else over
    for key in _REPLACED:
        over = target.get(key)
        if over is not None:
            result[key] = over
    own = {"target": lift(name, target.position)}
    for key in ("mode", "git"):
        if (setting := target.get(key)) is not None:
            own[key] = setting
    bundle = result.get("bundle", Node({}, tree.position))
    result["bundle"] = merge(bundle, Node(own, target.position))
    result["variables"] = _variables(result.get("variables", Node({}, tree.position)), target)
    return Node(result, tree.position)


def _variables(declared: Node, target: Node) -> Node:
    result = dict(declared.children)
    for name, override in (target.get("variables") or Node({}, target.position)).children.items():
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
