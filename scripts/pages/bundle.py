"""Generate docs/bundle.md from the tables."""

from __future__ import annotations

from lakeward.bundle.configuration.computed_values import current_user
from lakeward.bundle.configuration.lookups import LOOKUPS
from lakeward.bundle.configuration.merge import MERGE_KEYS
from lakeward.bundle.configuration.permissions import LEVELS
from lakeward.bundle.configuration.resource_kinds import RESOURCE_KINDS, ResourceKind
from lakeward.bundle.rules import RULES

__all__ = ["as_markdown"]

_COMMON = ("CAN_VIEW", "CAN_RUN", "CAN_MANAGE")
_HEAD = """\
# Bundles

lakeward reads `databricks.yml`, its includes, variables, targets and references as the Databricks CLI does,
without a workspace.

```sh
lakeward bundle validate              # the default target; -t prod: another; --strict: warnings fail
lakeward bundle validate -o json      # the resolved configuration and the findings
lakeward bundle summary -t prod       # resources, their location, and when jobs start
lakeward init my_lakehouse            # create a new bundle
```

These commands use the local workspace (`lakeward workspace`) and start one if none is running:

```sh
lakeward bundle deploy -t dev         # files, wheels and resources; idempotent
lakeward bundle run daily -t dev --params source=/some/folder
lakeward bundle run daily -t dev --only check   # selected tasks; -o json: the results as one object
lakeward bundle destroy -t dev        # everything, except lifecycle.prevent_destroy
```

They never use another workspace. A bundle that names another host (`workspace.host`) fails with
HOST_NOT_LOCAL; `--local` on `deploy`, `run`, `summary` and `destroy` overrides the host without changing the
file. Use the Databricks CLI for any other workspace.

Errors name file, line and column. The exit code of `validate` is 0 without errors and 2 with errors.

## Variables

From the strongest source to the weakest: `--var name=value`; the environment's `BUNDLE_VAR_name`;
`.databricks/bundle/<target>/variable-overrides.json`; the target's `variables:`; the default. A default, or a
target's value, may be a mapping or list with or without `type: complex`; in the overrides file the value has
the declared type, and the first two sources give text only.

A variable with `lookup:` gets its id from a workspace, unless one of the sources above sets it. A job or
pipeline of the bundle is found by its name, with or without the prefix of the target; a deployment finds jobs
and pipelines of the local workspace. Any other id is a placeholder of kind and name (`warehouse:shared`), to
which the local warehouse and cluster answer. Kinds: {lookups}.

## Resources in Python

`python:` (`resources`, `mutators`, `venv_path`), and `experimental.python` of older bundles, are executed by
the package `databricks-bundles` in the bundle's own environment: `venv_path`, else the first `python3` on the
PATH. All bundle commands execute it, as the Databricks CLI does. Variables, references, presets and
permissions apply to its resources; their paths are relative to the bundle's folder. Errors name file and line
of the Python code. The errors for a missing environment (PYTHON_ENVIRONMENT_MISSING) or package
(PYTHON_PACKAGE_MISSING) contain the command that creates it. `DATABRICKS_BUNDLE_RESTRICTED_CODE_EXECUTION`
forbids the execution. `lakeward check` executes nothing and names the functions instead.

## Artifacts

A local deployment builds the artifacts of `type: whl`, and takes the newest wheel of an artifact that only
names `files`. The artifact's `build` command runs in its `path`. Without a command, or where the command only
calls a build tool that is not installed (`poetry build`, `uv build` …), the project's build backend is run in
an environment of its own; that needs the package index, or uv's cache. pyproject.toml with `[project]` or
`[tool.poetry]`, setup.cfg and setup.py are read for the name and the entry points. Errors name the artifact.

## User

`${{workspace.current_user.<field>}}` has the fields that the local workspace returns for its owner: {user}.
`${{bundle.git.<field>}}` has `branch`, `actual_branch`, `commit`, `origin_url` and `bundle_root_path`. Known
fields of `bundle` and `workspace` that are not set resolve to an empty text.

## Merging

Mappings of a target are merged over the base key by key, lists are appended. Elements with the same key
are merged, also within one list: {merged}.

## Unknown fields

An unknown key at the top, in `bundle`, `workspace`, `resources`, a target, a job or a pipeline, at any depth,
is ignored with the warning `unknown-field`, as by the Databricks CLI. The fields are those of databricks-sdk.
Blocks that only hold YAML anchors give no warning.

## Resources

`lakeward bundle deploy` creates these kinds. Other kinds are valid, `validate` and `deploy` name each of
their resources (`not-deployed`, which `--strict` does not count), and references to them resolve to stable
local values.

| kind | deployed locally | id | further fields for `${{resources.<kind>.<key>.<field>}}` |
|---|---|---|---|
{kinds}
Every setting of a resource in the bundle can be referenced as well, and the `volume_path` of a volume.

## Rules

These rules find configuration that passes the platform's own validation and fails at deployment or run time.
A warning marks configuration that works but is probably unintended.

| rule | | holds when | otherwise |
|---|---|---|---|
"""
_LEVELS = """
## Permissions

`permissions:` at the top or in a target apply to every job, pipeline and secret scope. Of several levels for
one principal the highest remains. Schemas and volumes have `grants` instead.

| resource | levels | CAN_VIEW, CAN_RUN, CAN_MANAGE become |
|---|---|---|
"""


def as_markdown() -> str:
    """Return the page."""
    rules = "".join(f"| {rule.name} | {rule.severity} | {rule.holds} | {rule.fix} |\n" for rule in RULES)
    levels = "".join(
        f"| {kind} | {', '.join(each.known)} | "
        f"{', '.join(each.common.get(level, 'nothing') for level in _COMMON)} |\n"
        for kind, each in LEVELS.items()
    )
    return (
        _HEAD.format(
            lookups=", ".join(LOOKUPS),
            user=", ".join(f"`{field}`" for field in current_user("user")),
            merged=", ".join(f"`{kind}.*.{name}` by `{key}`" for (kind, name), key in MERGE_KEYS.items()),
            kinds="".join(_kind(kind) for kind in RESOURCE_KINDS.values()),
        )
        + rules
        + _LEVELS
        + levels
    )


def _kind(kind: ResourceKind) -> str:
    """Return the row of a kind of resource."""
    identifier = ".".join(kind.full_name) or "assigned"
    fields = ", ".join((*kind.identifiers, *kind.computed))
    return f"| {kind.name} | {'yes' if kind.deployed else 'no'} | {identifier} | {fields} |\n"
