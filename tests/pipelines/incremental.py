"""What tests of incremental views share: views from queries, and the techniques of an update."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.pipelines import Update
from tests.pipelines.conftest import Lab


def qualified(query: str, source: str) -> str:
    """Return a query in which the tables a and b are those of the schema `source`."""
    return re.sub(r"\b(FROM|JOIN) ([ab])\b", rf"\1 {source}.\2 AS \2", query)


def qualified_change(statement: str, source: str) -> str:
    """Return a statement that changes the table a or b of the schema `source`."""
    return re.sub(r"\b(FROM|INTO|UPDATE|OVERWRITE|OPTIMIZE) ([ab])\b", rf"\1 {source}.\2", statement)


def sql_views(queries: Mapping[str, str], *, policy: str = "AUTO") -> str:
    """Return SQL that declares a view per query; names that end with `_by_g` are partitioned by g."""
    return "\n".join(
        f"CREATE MATERIALIZED VIEW {name} {'PARTITIONED BY (g) ' if name.endswith('_by_g') else ''}"
        f"REFRESH POLICY {policy} AS {queries[name]};"
        for name in queries
    )


def python_views(queries: Mapping[str, str]) -> str:
    """Return Python that declares a view per expression of a DataFrame; {a} and {b} are tables."""
    declared = ["from pyspark import pipelines as dp", "from pyspark.sql import functions as F", ""]
    for name, query in queries.items():
        text = query.format(a='spark.table("SRC.a")', b='spark.table("SRC.b")')
        declared += [
            '@dp.materialized_view(refresh_policy="incremental")',
            f"def {name}(): return {text}",
            "",
        ]
    return "\n".join(declared)


@dataclass(frozen=True)
class Planned:
    """The technique of one view in one update, with the reasons against others."""

    chosen: str
    issues: tuple[dict[str, Any], ...]
    message: str
    details: dict[str, Any]


def planned(lab: Lab, update: Update) -> dict[str, Planned]:
    """Return the techniques of an update by the view's name."""
    found = {}
    where = f"event_type = 'planning_information' AND origin.update_id = '{update.update_id}'"
    for event in lab.log(where):
        details = json.loads(event["details"])["planning_information"]
        techniques = details["technique_information"]
        (chosen,) = [each["maintenance_type"] for each in techniques if each["is_chosen"]]
        issues = tuple(issue for each in techniques for issue in each.get("incrementalization_issues", ()))
        name = event["origin"]["dataset_name"].split(".")[-1]
        found[name] = Planned(chosen.removeprefix("MAINTENANCE_TYPE_"), issues, event["message"], details)
    return found
