"""Which target is meant, and the configuration with its overrides laid over."""

from __future__ import annotations

from lakeward.bundle.merge import merge
from lakeward.bundle.near import is_near, suggestion
from lakeward.bundle.node import Node, failure, lift
from lakeward.errors import BundleError

__all__ = ["choose", "select"]

_MERGED = ("bundle", "workspace", "artifacts", "resources", "sync", "presets", "experimental", "permissions")
_REPLACED = ("run_as",)
_OWN = {*_MERGED, *_REPLACED, "mode", "default", "git", "variables", "cluster_id", "compute_id", "include"}


def choose(tree: Node, asked: str | None) -> str:
    """Return the name of the target to use: `asked`, else the default one, else the only one.

    A bundle without targets has the single target `default`. Raises BundleError when `asked` does not
    exist (TARGET_UNKNOWN) or when nothing says which of several is meant (TARGET_AMBIGUOUS).
    """
    targets = (tree.get("targets") or Node({}, tree.position)).children
    if asked is not None:
        if asked in targets or (not targets and asked == "default"):
            return asked
        raise BundleError(
            "TARGET_UNKNOWN",
            f"There is no target `{asked}` in this bundle.",
            next_step=suggestion(asked, targets, what="targets"),
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


def select(tree: Node, name: str) -> Node:
    """Return `tree` with the overrides of target `name` laid over it, without `targets` and `include`.

    `bundle.target`, `bundle.mode` and `bundle.git` then say what was selected.
    """
    targets = tree.get("targets") or Node({}, tree.position)
    target = targets.children.get(name) or Node({}, tree.position)
    for key, child in target.children.items():
        if is_near(key, _OWN):
            message = f"a target has no setting `{key}`."
            raise failure(
                "KEY_UNKNOWN", child.position, message, next_step=suggestion(key, _OWN, what="settings")
            )
    result = {key: child for key, child in tree.children.items() if key not in ("targets", "include")}
    for key in _MERGED:
        over = target.get(key)
        if over is not None:
            result[key] = merge(result[key], over, (key,)) if key in result else over
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
            next_step = suggestion(name, result, what="variables")
            raise failure("VARIABLE_UNKNOWN", override.position, message, next_step=next_step)
        base = result[name].children
        # A mapping is either the long form (`default:`, `lookup:` …) or the value of a complex variable.
        long_form = isinstance(override.value, dict) and set(override.value) <= {
            "default",
            "description",
            "lookup",
            "type",
        }
        over = override.children if long_form else {"default": override}
        result[name] = Node({**base, **over}, result[name].position)
    return Node(result, declared.position)
