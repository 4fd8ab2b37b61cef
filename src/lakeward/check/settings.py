"""Settings that code reads without a default and that nothing in the repository sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakeward.check.model import Finding, Use

__all__ = ["settings_needed"]


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
