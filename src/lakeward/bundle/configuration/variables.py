"""Assign every variable the value of its strongest source.

`--var` beats BUNDLE_VAR_<name> (simple variables only), which beats the target's
variable-overrides.json, which beats the target's value, which beats the default (BN-4.4).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lakeward.bundle.configuration.lookups import LOOKUPS, placeholder
from lakeward.bundle.configuration.node import Node, Position, failure, lift, too_deep
from lakeward.errors import BundleError
from lakeward.suggestions import unknown_name_hint


def overrides_file(root: Path, target: str) -> Path:
    """Return where a checkout keeps its own values for the variables of `target`."""
    return root / ".databricks" / "bundle" / target / "variable-overrides.json"


def read_overrides(root: Path, target: str) -> Node | None:
    """Return the content of the overrides file of `target`, or None without a file.

    Raises BundleError(OVERRIDES_INVALID) when it is not a JSON object.
    """
    file = overrides_file(root, target)
    if not file.is_file():
        return None
    name = file.relative_to(root).as_posix()
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise failure("OVERRIDES_INVALID", Position(name, 0, 0), "this file is not UTF-8.") from None
    except RecursionError:
        raise too_deep("OVERRIDES_INVALID", Position(name, 1, 1)) from None
    except json.JSONDecodeError as error:
        place = Position(name, error.lineno, error.colno)
        raise failure("OVERRIDES_INVALID", place, f"this is not valid JSON: {error.msg}.") from None
    if not isinstance(values, dict):
        raise failure("OVERRIDES_INVALID", Position(name, 1, 1), "an object of variable values is expected.")
    return lift(values, Position(name, 1, 1))


@dataclass(frozen=True)
class VariableSources:
    """Where the values of variables come from, apart from their declarations.

    Attributes:
        command_line: The values of `--var`.
        environ: The environment, with `BUNDLE_VAR_<name>`.
        overrides: The content of the overrides file, None without one.
        target: The target that the overrides belong to.
        unassigned: The value of every variable that has none; None: that is an error.
    """

    command_line: Mapping[str, str]
    environ: Mapping[str, str]
    overrides: Node | None
    target: str
    unassigned: str | None = None


def assign_variables(tree: Node, sources: VariableSources) -> Node:
    """Return `tree` with `variables.<name>.value` set for each variable.

    Raises BundleError for a value of an undeclared variable (VARIABLE_UNKNOWN), a variable without a value
    (VARIABLE_UNASSIGNED), and forms that a variable cannot take.
    """
    declared = tree.children["variables"]
    known = declared.children
    for name in sources.command_line:
        if name not in known:
            raise BundleError(
                "VARIABLE_UNKNOWN",
                f"--var gives a value to `{name}`, which the bundle does not declare.",
                next_step=unknown_name_hint(name, known, what="variables"),
            )
    overrides = sources.overrides.children if sources.overrides is not None else {}
    for name, value in overrides.items():
        if name not in known:
            message = f"a value for the variable `{name}`, which the bundle does not declare."
            next_step = unknown_name_hint(name, known, what="variables")
            raise failure("VARIABLE_UNKNOWN", value.position, message, next_step=next_step)
    values = {name: _with_value(name, node, sources) for name, node in known.items()}
    return Node({**tree.children, "variables": Node(values, declared.position)}, tree.position)


def _looked_up(name: str, lookup: Node) -> Node:
    """Return the placeholder of an id that only a workspace has: kind and name, `warehouse:shared`."""
    kinds = list(lookup.children)
    if len(kinds) != 1 or kinds[0] not in LOOKUPS:
        message = f"the lookup of the variable `{name}` names exactly one kind of thing and its name."
        next_step = unknown_name_hint(", ".join(kinds), LOOKUPS, what="kinds")
        raise failure("VARIABLE_LOOKUP", lookup.position, message, next_step=next_step)
    return Node(placeholder(kinds[0], str(lookup.children[kinds[0]].value)), lookup.position)


def _with_value(name: str, node: Node, sources: VariableSources) -> Node:
    if node.value is not None and not isinstance(node.value, dict):
        message = f"the variable `{name}` is declared by a mapping (`default:`, `description:`, `type:`)."
        raise failure("VARIABLE_INVALID", node.position, message)
    kind = node.get("type")
    is_complex = kind is not None and kind.value == "complex"
    own = sources.overrides.get(name) if sources.overrides is not None else None
    value = _assigned_value(name, node, sources, own, is_complex=is_complex)
    if value is own and isinstance(value.value, dict | list) != is_complex:
        declared = "complex" if is_complex else "not complex"
        message = f"the variable `{name}` is {declared}, and its value here is not of that type."
        cure = "Write a mapping or list." if is_complex else "Add `type: complex` to its declaration."
        raise failure("VARIABLE_INVALID", value.position, message, next_step=cure)
    return Node({**node.children, "value": value}, node.position)


def _assigned_value(
    name: str, node: Node, sources: VariableSources, own: Node | None, *, is_complex: bool
) -> Node:
    """Return the value from the first source that has one.

    Args:
        name: The variable.
        node: Its declaration.
        sources: The sources of values.
        own: Its value in the file of overrides.
        is_complex: Whether it is declared so: then it is not given as text.

    Raises:
        ConfigurationError: No source has a value, or a complex variable is given as text.
    """
    overrides_file = f".databricks/bundle/{sources.target}/variable-overrides.json"
    given, environment = sources.command_line.get(name), sources.environ.get(f"BUNDLE_VAR_{name}")
    if is_complex and (given is not None or (environment is not None and own is None)):
        source = "--var" if given is not None else f"BUNDLE_VAR_{name}"
        message = f"the variable `{name}` is complex and cannot be given by {source}."
        next_step = f"Write it into {overrides_file} or into the target."
        raise failure("VARIABLE_INVALID", node.position, message, next_step=next_step)
    if given is not None:
        return Node(given, node.position)
    if environment is not None and not is_complex:
        return Node(environment, node.position)
    if own is not None:
        return own
    lookup, default = node.get("lookup"), node.get("default")
    if lookup is not None:
        return _looked_up(name, lookup)
    if default is not None:
        return default
    if sources.unassigned is not None:
        return Node(sources.unassigned, node.position)
    message = f"the variable `{name}` has no value."
    next_step = (
        f"Give it one with --var {name}=…, with the environment variable BUNDLE_VAR_{name}, or in "
        f"{overrides_file} (or as its default in databricks.yml)."
    )
    raise failure("VARIABLE_UNASSIGNED", node.position, message, next_step=next_step)
