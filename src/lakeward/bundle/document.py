"""docs/bundle.md, made of the tables."""

from __future__ import annotations

from lakeward.bundle.permissions import LEVELS
from lakeward.bundle.rules import RULES
from lakeward.bundle.variables import LOOKUPS

__all__ = ["as_markdown"]

_COMMON = ("CAN_VIEW", "CAN_RUN", "CAN_MANAGE")
_HEAD = """\
# Bundles

`databricks.yml`, its includes, variables, targets and references are read here as the Databricks CLI reads
them, without a workspace.

```sh
lakeward bundle validate              # the default target; -t prod: another; --strict: warnings fail
lakeward bundle validate -o json      # the whole configuration, resolved, and what was found
lakeward bundle summary -t prod       # what is deployed, where to, and when its jobs start
lakeward init my_lakehouse            # a bundle to begin with
```

In a local workspace, which is started for the time of the command if none runs (`lakeward workspace`):

```sh
lakeward bundle deploy -t dev         # files, wheels and resources; a second time changes nothing
lakeward bundle run daily -t dev --params source=/some/folder
lakeward bundle run daily -t dev --only check   # some of its tasks; -o json: how they went, as one object
lakeward bundle destroy -t dev        # all of it; lifecycle.prevent_destroy is respected
```

These speak REST to this machine alone; for any other host there is the Databricks CLI.

Errors name file, line and column. Exit code 0: nothing was found that a deployment would refuse; 2: something
was.

## Variables

From the strongest source to the weakest: `--var name=value`; the environment's `BUNDLE_VAR_name`;
`.databricks/bundle/<target>/variable-overrides.json`; the target's `variables:`; the default. Variables of
`type: complex` take a mapping or list from the last three.

A variable with `lookup:` gets its id from a workspace. Here the kind and the name stand for it
(`warehouse:shared`), unless one of the sources above gives the id. Kinds: {lookups}.

## Rules

What passes the platform's own validation and is refused later, by the deployment or by the run. A warning
is what works and surprises.

| rule | | holds when | otherwise |
|---|---|---|---|
"""
_LEVELS = """
## Permissions

`permissions:` at the top or in a target go onto every job, pipeline and secret scope; of several levels for
one principal the highest stays. Schemas and volumes have `grants` instead.

| resource | levels | CAN_VIEW, CAN_RUN, CAN_MANAGE become |
|---|---|---|
"""


def as_markdown() -> str:
    """Return the page."""
    rules = "".join(f"| {rule.name} | {rule.severity} | {rule.what} | {rule.cure} |\n" for rule in RULES)
    levels = "".join(
        f"| {kind} | {', '.join(each.known)} | "
        f"{', '.join(each.common.get(level, 'nothing') for level in _COMMON)} |\n"
        for kind, each in LEVELS.items()
    )
    return _HEAD.format(lookups=", ".join(LOOKUPS)) + rules + _LEVELS + levels
