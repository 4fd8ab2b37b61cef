"""`dashboard_task`: the queries of the datasets that a dashboard shows. No subscription is sent.

Source: https://docs.databricks.com/aws/en/jobs/tasks/dashboard
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks.alert import saved_object
from lakeward.jobs.tasks.sql import warehouse_session
from lakeward.jobs.tasks.user_code import Action, Context
from lakeward.quoting import use_statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TYPES = {
    "DATE": "DATE",
    "DATETIME": "TIMESTAMP",
    "DECIMAL": "DOUBLE",
    "INTEGER": "BIGINT",
    "NUMBER": "DOUBLE",
    "BOOLEAN": "BOOLEAN",
}
_UNITS = {
    "s": "SECOND",
    "m": "MINUTE",
    "h": "HOUR",
    "d": "DAY",
    "w": "WEEK",
    "M": "MONTH",
    "Q": "QUARTER",
    "y": "YEAR",
}
_OFFSET = re.compile(r"([+-]\d+)([smhdwMQy])")
_RELATIVE = re.compile(r"now(?P<offsets>(?:[+-]\d+[smhdwMQy])*)(?:/(?P<unit>[smhdwMQy]))?")


def prepare(context: Context, task: Task) -> Action | None:
    """Return the refresh of the dashboard; None in a dry run.

    Every dataset that a widget shows is read, with the default values of its parameters. The first query that
    fails is the task's error. Raises ConfigurationError(DASHBOARD_UNKNOWN, DASHBOARD_INVALID).
    """
    dashboard = saved_object(context, task, "dashboards", "dashboard_id")
    content = _content(task, dashboard)
    if context.selection.dry_run:
        return None

    def action() -> None:
        namespace = [dashboard.get("dataset_catalog"), dashboard.get("dataset_schema")]
        with warehouse_session(context.settings) as spark:
            before = spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
            try:
                for dataset in shown_datasets(content):
                    _read(spark, dataset, namespace, before)
            finally:
                spark.sql(use_statement(before))

    return action


def _content(task: Task, dashboard: Mapping[str, Any]) -> dict[str, Any]:
    try:
        content = json.loads(dashboard.get("serialized_dashboard") or "{}")
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ConfigurationError(
            "DASHBOARD_INVALID",
            f"The dashboard of the task `{task.key}` is not a JSON object.",
            next_step="Export the dashboard again.",
        )
    return content


def shown_datasets(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the datasets of a dashboard that its widgets use.

    >>> query = {"query": {"datasetName": "a"}}
    >>> page = {"layout": [{"widget": {"queries": [query]}}]}
    >>> list(shown_datasets({"datasets": [{"name": "a"}, {"name": "b"}], "pages": [page]}))
    [{'name': 'a'}]
    """
    used = {
        (query.get("query") or {}).get("datasetName")
        for page in content.get("pages") or ()
        for place in page.get("layout") or ()
        for query in (place.get("widget") or {}).get("queries") or ()
    }
    for dataset in content.get("datasets") or ():
        if dataset.get("name") in used:
            yield dataset


def _read(
    spark: SparkSession,
    dataset: Mapping[str, Any],
    namespace: list[str | None],
    before: tuple[str, str],
) -> None:
    """Run the query of a dataset in its catalog and schema."""
    catalog, schema = namespace[0] or dataset.get("catalog"), namespace[1] or dataset.get("schema")
    spark.sql(
        use_statement([str(catalog or before[0]), str(schema or ("default" if catalog else before[1]))])
    )
    name = dataset.get("displayName") or dataset.get("name")
    lines = dataset.get("queryLines")
    text = "".join(lines) if isinstance(lines, list) else dataset.get("query")
    if text:
        values = {
            key: value
            for key, value in _parameters(spark, dataset)
            if re.search(rf":{re.escape(key)}\b", text)
        }
        frame = spark.sql(str(text).rstrip().rstrip(";"), values)
    elif dataset.get("asset_name"):
        # A table or a metric view, whose columns the widgets choose.
        spark.sql(f"DESCRIBE TABLE {dataset['asset_name']}")
        print(f"{name}: described")
        return
    else:
        return
    if frame.columns:
        frame.write.format("noop").mode("overwrite").save()
    print(f"{name}: refreshed")


def _parameters(spark: SparkSession, dataset: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a dataset with their default values; None without one."""
    from pyspark.sql.functions import array, lit, struct

    for each in dataset.get("parameters") or ():
        name, kind = str(each["keyword"]), str(each.get("dataType") or "STRING").upper()
        default = each.get("defaultSelection") or {}
        given = [value["value"] for value in (default.get("values") or {}).get("values") or ()]
        if each.get("complexType") == "RANGE":
            ends = {end: ((default.get("range") or {}).get(end) or {}).get("value") for end in ("min", "max")}
            yield name, struct(*(lit(_value(spark, text, kind)).alias(end) for end, text in ends.items()))
        elif each.get("complexType") == "MULTI":
            yield name, array(*(lit(_value(spark, text, kind)) for text in given))
        else:
            yield name, _value(spark, given[0] if given else None, kind)


def _value(spark: SparkSession, text: str | None, kind: str) -> Any:
    """Return a value of a parameter; dates may be relative (`now-7d/d`)."""
    if text is None or kind not in _TYPES:
        return text
    relative = _RELATIVE.fullmatch(str(text))
    expression = ":value"
    if relative is not None:
        expression = "current_timestamp()"
        for count, unit in _OFFSET.findall(relative["offsets"]):
            expression = f"timestampadd({_UNITS[unit]}, {int(count)}, {expression})"
        if relative["unit"]:
            expression = f"date_trunc('{_UNITS[relative['unit']]}', {expression})"
    arguments = {} if relative else {"value": str(text)}
    return spark.sql(f"SELECT CAST({expression} AS {_TYPES[kind]})", arguments).collect()[0][0]
