"""Settings without a value and schemas that nothing in the repository creates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakeward.check.model import Finding, Use
from lakeward.check.tables import HOLE, may_be_equal, parts_of
from lakeward.check.verdicts.paths import is_test
from lakeward.pipelines import OWN_SETTINGS
from lakeward.session import BUILT_IN_CATALOGS

# What every lakehouse has.
_THERE = frozenset((*BUILT_IN_CATALOGS, "default", "global_temp", "spark_catalog"))


def settings_needed(uses: Iterable[Use], declarations: Iterable[str]) -> Iterator[Finding]:
    """Yield a finding for each `spark.conf.get(key)` of an own key without a default.

    A key counts as set where code sets it or one of `declarations`, the texts of bundles and job files,
    contains it. Keys that begin with `spark.` are Spark's or the platform's; a pipeline sets its own.
    """
    uses = list(uses)
    known = {use.name for use in uses if use.kind == "conf" and use.detail == "set"} | {*OWN_SETTINGS}
    texts = list(declarations)
    for use in uses:
        if use.kind != "conf" or use.detail != "get" or use.name.startswith("spark.") or "{…}" in use.name:
            continue
        if use.name in known or any(use.name in text for text in texts):
            continue
        cure = (
            "Nothing in the repository sets it: give it in `configuration` of the bundle's pipeline, "
            f"or with `lakeward pipeline … --conf {use.name}=VALUE`."
        )
        yield Finding("needs_seed", f"setting {use.name}", use.place, cure)


def schemas_needed(
    uses: Iterable[Use], declarations: Iterable[str], there: Iterable[str]
) -> Iterator[Finding]:
    """Yield a finding for each catalog or schema that code enters or writes tables to, and nothing creates.

    Args:
        uses: What the code uses.
        declarations: Texts of bundles and other files: what they name is taken as created.
        there: Catalogs (`c`) and schemas (`c.s`) of the project's lakehouses.
    """
    uses = list(uses)
    made = {use.name.strip(".").lower() for use in uses if use.kind == "creates_schema"}
    made.update(part for name in there for part in (name.lower(), name.lower().partition(".")[0]))
    for use in uses:
        # A dataset of a pipeline or a seed makes its schema.
        if use.kind == "creates" and use.detail != "written":
            made.update(_above(use.name.lower()))
    # CREATE SCHEMA fails where its catalog is missing: it makes the schema alone.
    made |= {name.rpartition(".")[2] for name in made}
    texts = [text.lower() for text in declarations]
    for use in uses:
        for kind, name in _containers_of(use):
            last = name.rpartition(".")[2]
            known = any(may_be_equal(last, each) for each in made) or any(last in text for text in texts)
            if known or last in _THERE:
                continue
            cure = (
                f"Nothing in the repository creates it: run `CREATE {kind.upper()} IF NOT EXISTS {name}` "
                'first, as with `lakeward sql -e "…"`.'
            )
            yield Finding("needs_seed", f"{kind} {name}", use.place, cure)


def _containers_of(use: Use) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of the catalog and the schema that a use needs; names with a hole are not judged."""
    catalog = use.name.lower().rpartition(".")[0]
    names = [("catalog", catalog)] if catalog else []
    if use.kind == "uses_schema":
        names += [
            ("schema" if catalog or not use.name.startswith(".") else "catalog", use.name.strip(".").lower())
        ]
    elif use.kind == "creates_schema":
        # CREATE SCHEMA fails where its catalog is missing.
        names = [] if is_test(use.place.file) else names
    elif use.kind == "creates" and use.detail == "written" and not is_test(use.place.file):
        *above, _ = parts_of(use.name) or ("",)
        names = [("catalog", above[0])] if len(above) > 1 else []
        names += [("schema", ".".join(above))] if above else []
    else:
        return
    yield from ((kind, name) for kind, name in names if HOLE not in name)


def _above(table: str) -> tuple[str, ...]:
    parts = table.split(".")
    return tuple(".".join(parts[:end]) for end in range(1, len(parts)))
