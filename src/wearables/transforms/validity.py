"""Rules of `wearables.rules` as columns."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

__all__ = ["failed_rules", "holds"]


def holds(rules: Mapping[str, str]) -> Column:
    """Tell whether every one of `rules` is true. Never NULL: a rule without an answer does not hold."""
    together = " AND ".join(f"({rule})" for rule in rules.values())
    return F.coalesce(F.expr(together), F.lit(False))


def failed_rules(rules: Mapping[str, str]) -> Column:
    """Name those of `rules` that do not hold, in their order; none gives an empty array."""
    return F.array_compact(
        F.array(*(F.when(~holds({name: rule}), F.lit(name)) for name, rule in rules.items()))
    )
