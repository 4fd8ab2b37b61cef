"""Resolve databricks.yml and its includes into a bundle: the sequence of passes."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.bundle.configuration.computed_values import complete_workspace, git_details, resource_ids
from lakeward.bundle.configuration.field_types import without_mistyped
from lakeward.bundle.configuration.includes import read_configuration, require_unique
from lakeward.bundle.configuration.known_fields import SECTIONS, repeated_keys, unknown_fields, unset_fields
from lakeward.bundle.configuration.lookups import resolve_lookups
from lakeward.bundle.configuration.merge import merge_elements
from lakeward.bundle.configuration.node import Node, failure, plain
from lakeward.bundle.configuration.permissions import inherit_permissions, inherit_run_as
from lakeward.bundle.configuration.references import require_resolved, resolve_references
from lakeward.bundle.configuration.relative_paths import make_relative_to_root
from lakeward.bundle.configuration.targets import (
    apply_presets,
    choose_target,
    presets_of,
    require_mode,
    select_target,
)
from lakeward.bundle.configuration.variables import VariableSources, assign_variables, read_overrides
from lakeward.bundle.configuration.workspace_paths import without_prefixes
from lakeward.bundle.python_resources import add_python_resources, python_code_of
from lakeward.bundle.resolved_bundle import Bundle
from lakeward.errors import BundleError

_EARLY = ("bundle", "var", "variables", "workspace", "artifacts")


UNASSIGNED = "lakeward-no-value"
"""What variables that nothing gives a value are for `load_statically`, so that the rest can be read."""


@dataclass(frozen=True, kw_only=True)
class ResolutionOptions:
    """What the files of a bundle are resolved with.

    Attributes:
        root: The folder of the bundle.
        user: The user who deploys.
        target: The target, None for the default one.
        variables: Values of variables from the command line.
        environ: The environment.
        is_static: Whether nothing is executed: the bundle's Python code (`python: resources:`) is left out,
            and variables without a value have `UNASSIGNED`.
        is_confined: Whether paths have to be below `root`.
        only_target: The name of the one target of files that have none.
    """

    root: Path
    user: str
    target: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    is_static: bool = False
    is_confined: bool = True
    only_target: str | None = None


def load(
    root: Path,
    target: str | None = None,
    variables: Mapping[str, str] = {},
    *,
    user: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Bundle:
    """Return the bundle in folder `root` as its `target`.

    Without `target`, DATABRICKS_BUNDLE_TARGET names it, else the file's default does. `variables` are values
    from the command line; `user` is the user who deploys (default: USER). Raises BundleError with file, line
    and column for everything that cannot be read.
    """
    return _load(root, target, variables, user, environ, is_static=False)


def load_statically(root: Path, target: str | None, environ: Mapping[str, str] = os.environ) -> Bundle:
    """Return the bundle for static analysis: nothing is executed, and no variable needs a value.

    Variables without a value have `UNASSIGNED`, and `Bundle.unexecuted` names the functions of the bundle's
    Python code. Raises BundleError as `load` does.
    """
    return _load(root, target, {}, None, environ, is_static=True)


def _load(
    root: Path,
    target: str | None,
    variables: Mapping[str, str],
    user: str | None,
    environ: Mapping[str, str],
    *,
    is_static: bool,
) -> Bundle:
    root = root.resolve()
    options = ResolutionOptions(
        root=root,
        target=target or environ.get("DATABRICKS_BUNDLE_TARGET") or None,
        variables=variables,
        user=user or environ.get("USER") or environ.get("LOGNAME") or _login(),
        environ=environ,
        is_static=is_static,
    )
    return resolve_bundle(read_configuration(root), options)


def targets_to_read(
    root: Path, target: str | None = None, environ: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """Return the targets that a reader of the whole bundle in `root` looks at, at least one.

    That is `target`, else DATABRICKS_BUNDLE_TARGET, else the default target, else all of them. Raises
    BundleError as `load` does for files that cannot be read, and TARGET_UNKNOWN for `target`.
    """
    tree = _rename_environments(read_configuration(root.resolve()))
    try:
        return (choose_target(tree, target or environ.get("DATABRICKS_BUNDLE_TARGET") or None),)
    except BundleError as error:
        if error.condition != "TARGET_AMBIGUOUS":
            raise
        return tuple(tree.children["targets"].children)


def _rename_environments(tree: Node) -> Node:
    """Return `tree` in which `environments`, the name of `targets` before 2023, is called so."""
    if "targets" in tree.children or "environments" not in tree.children:
        return tree
    return Node({**tree.children, "targets": tree.children["environments"]}, tree.position)


def resolve_bundle(tree: Node, options: ResolutionOptions) -> Bundle:
    """Return `tree`, the merged files of a bundle, as the resolved bundle of its target; see `load`."""
    _require_sections(tree)
    notices = (*repeated_keys(tree), *unknown_fields(tree))
    tree, mistyped = without_mistyped(tree)
    notices += mistyped
    tree = _rename_environments(tree)
    target = options.only_target or choose_target(tree, options.target)
    tree = select_target(tree, target)
    require_unique(tree)
    _require_name(tree)
    explicit_root = tree.section("workspace").get("root_path") is not None
    tree, prefixed = without_prefixes(complete_workspace(tree, options.user))
    notices += prefixed
    tree = assign_variables(tree, _variable_sources(options, target))
    empty = {**git_details(tree, options.root), **unset_fields(tree)}

    def normalize(part: Node) -> Node:
        found = resolve_references(part, _EARLY, empty)
        return merge_elements(found) if options.only_target is None else found

    tree = make_relative_to_root(normalize(tree), confined=options.is_confined)
    tree = inherit_permissions(inherit_run_as(tree))
    require_mode(tree, explicit_root=explicit_root)
    preset = presets_of(tree)
    tree = apply_presets(tree, preset)
    code = python_code_of(tree)
    if code is not None and not options.is_static:

        def initialize(part: Node) -> Node:
            return apply_presets(inherit_permissions(inherit_run_as(normalize(part))), preset)

        tree, warnings = add_python_resources(
            tree, code, root=options.root, environ=options.environ, initialize=initialize, normalize=normalize
        )
        require_unique(tree)
        require_mode(tree, explicit_root=explicit_root)
        notices += warnings
    tree = resolve_lookups(tree, plain(tree.section("variables")), preset.name_prefix)
    # The value of a variable is checked where it is used.
    tree = resolve_references(tree, ("resources",), resource_ids(tree), unchecked=("variables",))
    require_resolved(tree, SECTIONS - {"scripts", "variables"})
    # Again: values of variables, and resources of Python code.
    tree, mistyped = without_mistyped(tree, is_resolved=True)
    notices += mistyped
    mode = tree.children["bundle"].get("mode")
    config = plain(tree)
    return Bundle(
        *(options.root, str(config["bundle"]["name"]), target, mode.value if mode else None, config, tree),
        notices=notices,
        unexecuted=code.functions if code is not None and options.is_static else (),
    )


def _variable_sources(options: ResolutionOptions, target: str) -> VariableSources:
    overrides = read_overrides(options.root, target)
    unassigned = UNASSIGNED if options.is_static else None
    return VariableSources(options.variables, options.environ, overrides, target, unassigned)


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "user"


def _require_sections(tree: Node) -> None:
    for key, child in tree.children.items():
        if (
            key in SECTIONS - {"include", "permissions"}
            and child.value is not None
            and not isinstance(child.value, dict)
        ):
            raise failure("BUNDLE_INVALID", child.position, f"the section `{key}` has to be a mapping.")
    if "bundle" not in tree.children:
        raise failure(
            "BUNDLE_INVALID", tree.position, "there is no section `bundle`.", next_step="Set bundle.name."
        )


def _require_name(tree: Node) -> None:
    if tree.children["bundle"].get("name") is None:
        raise failure(
            "BUNDLE_INVALID", tree.position, "the bundle has no name.", next_step="Set bundle.name."
        )
