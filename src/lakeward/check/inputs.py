"""Settings without a value and schemas that nothing in the repository creates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakeward.check.model import Finding, Use

__all__ = ["schemas_needed", "settings_needed"]

# What every lakehouse has.
_THERE = frozenset(("default", "main", "samples", "system", "hive_metastore", "spark_catalog"))


def settings_needed(uses: Iterable[Use], declarations: Iterable[str]) -> Iterator[Finding]:
    """Yield a finding for each `spark.conf.get(key)` of an own key without a default.

    A key counts as set where code sets it or one of `declarations`, the texts of bundles and job files,
    contains it. Keys with `spark.` at the beginning are Spark's or the platform's.
    """
    uses = list(uses)
    known = {use.name for use in uses if use.kind == "conf" and use.detail == "set"}
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


def schemas_needed(uses: Iterable[Use], declarations: Iterable[str]) -> Iterator[Finding]:
    """Yield a finding for each catalog or schema that a USE statement enters and nothing creates.

    It counts as created where SQL creates it, a table is made in it, or `declarations` contain its name.
    """
    uses = list(uses)
    made = {use.name.strip(".").lower() for use in uses if use.kind == "creates_schema"}
    for use in uses:
        if use.kind == "creates":
            made.update(_above(use.name.lower()))
    made |= {part for name in made for part in (name.rpartition(".")[2], name.partition(".")[0])}
    texts = [text.lower() for text in declarations]
    for use in uses:
        name = use.name.strip(".").lower()
        if use.kind != "uses_schema" or "{…}" in name or name in _THERE or name in made:
            continue
        last = name.rpartition(".")[2]
        if last in made or last == "default" or any(last in text for text in texts):
            continue
        kind = "catalog" if use.name.startswith(".") else "schema"
        cure = (
            f"Nothing in the repository creates it: run `CREATE {kind.upper()} IF NOT EXISTS {name}` first."
        )
        yield Finding("needs_seed", f"{kind} {name}", use.place, cure)


def _above(table: str) -> tuple[str, ...]:
    parts = table.split(".")
    return tuple(".".join(parts[:end]) for end in range(1, len(parts)))
