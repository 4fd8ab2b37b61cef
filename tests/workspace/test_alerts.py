"""SQL alerts: kept through the official client, evaluated by their schedule.

Source: https://docs.databricks.com/api/workspace/alertsv2
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from lakeward.jobs import alert_state
from lakeward.workspace.identifiers import WAREHOUSE_ID
from tests.workspace.server import running

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import sql  # noqa: E402

CLIENT = "sdk/alerts"


def _alert(**fields: Any) -> sql.AlertV2:
    evaluation = sql.AlertV2Evaluation(
        source=sql.AlertV2OperandColumn(name="n"),
        comparison_operator=sql.ComparisonOperator.GREATER_THAN,
        threshold=sql.AlertV2Operand(value=sql.AlertV2OperandValue(double_value=5)),
        empty_result_state=sql.AlertEvaluationState.OK,
    )
    given = {
        "display_name": "late orders",
        "query_text": "SELECT 7 AS n",
        "warehouse_id": WAREHOUSE_ID,
        "evaluation": evaluation,
        "schedule": sql.CronSchedule("0 0 8 * * ?", "UTC", sql.SchedulePauseStatus.UNPAUSED),
    }
    return sql.AlertV2(**{**given, **fields})


def test_an_alert_is_created_read_changed_and_removed(client: Any) -> None:
    made = client.alerts_v2.create_alert(_alert(custom_summary="{{ALERT_NAME}}"))
    me = client.current_user.me().user_name
    assert (made.owner_user_name, made.lifecycle_state.value, made.run_as_user_name) == (me, "ACTIVE", me)
    assert made.evaluation.state.value == "UNKNOWN"
    assert made.evaluation.source.name == "n" and made.schedule.quartz_cron_schedule == "0 0 8 * * ?"
    assert client.alerts_v2.get_alert(made.id) == made
    assert made.id in [each.id for each in client.alerts_v2.list_alerts(page_size=1)]
    changed = client.alerts_v2.update_alert(made.id, _alert(display_name="renamed"), "display_name")
    assert (changed.display_name, changed.custom_summary) == ("renamed", "{{ALERT_NAME}}")
    assert client.alerts_v2.update_alert(made.id, _alert(), "*").custom_summary is None
    client.alerts_v2.trash_alert(made.id)
    assert client.alerts_v2.get_alert(made.id).lifecycle_state.value == "DELETED"
    assert made.id not in [each.id for each in client.alerts_v2.list_alerts()]
    with pytest.raises(sdk.errors.NotFound):
        client.alerts_v2.update_alert(made.id, _alert(), "*")
    client.alerts_v2.trash_alert(made.id, purge=True)
    with pytest.raises(sdk.errors.NotFound):
        client.alerts_v2.get_alert(made.id)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"display_name": ""}, "display_name"),
        ({"query_text": ""}, "query_text"),
        ({"warehouse_id": "absent"}, "absent"),
        ({"schedule": sql.CronSchedule("every day", "UTC")}, "cron"),
        ({"schedule": sql.CronSchedule("0 0 8 * * ?", "Nowhere")}, "Nowhere"),
        ({"evaluation": sql.AlertV2Evaluation(sql.AlertV2OperandColumn(""), None)}, "source"),
    ],
)
def test_an_alert_that_cannot_be_evaluated_is_refused(client: Any, fields: Any, text: str) -> None:
    with pytest.raises(sdk.errors.DatabricksError, match=text):
        client.alerts_v2.create_alert(_alert(**fields))


@pytest.mark.parametrize("mask", ["", "owner_user_name", "display_name,state"])
def test_a_change_names_fields_of_an_alert(client: Any, mask: str) -> None:
    made = client.alerts_v2.create_alert(_alert())
    with pytest.raises(sdk.errors.InvalidParameterValue, match="update_mask"):
        client.alerts_v2.update_alert(made.id, _alert(), mask)
    client.alerts_v2.trash_alert(made.id, purge=True)


NUMBERS = ([["3", "a"], ["9", None], [None, "b"], ["6", "a"]], ["INT", "STRING"])
_VALUE = {"double_value": 5.0}
CONDITIONS: dict[str, tuple[dict[str, Any], str]] = {
    "first row": ({"source": {"name": "n"}, "comparison_operator": "LESS_THAN"}, "TRIGGERED"),
    "in any case": ({"source": {"name": "N"}, "comparison_operator": "GREATER_THAN"}, "OK"),
    "sum": (
        {"source": {"name": "n", "aggregation": "SUM"}, "comparison_operator": "GREATER_THAN"},
        "TRIGGERED",
    ),
    "avg": ({"source": {"name": "n", "aggregation": "AVG"}, "comparison_operator": "EQUAL"}, "OK"),
    "median": (
        {"source": {"name": "n", "aggregation": "MEDIAN"}, "comparison_operator": "GREATER_THAN_OR_EQUAL"},
        "TRIGGERED",
    ),
    "min": ({"source": {"name": "n", "aggregation": "MIN"}, "comparison_operator": "LESS_THAN"}, "TRIGGERED"),
    "max": (
        {"source": {"name": "n", "aggregation": "MAX"}, "comparison_operator": "LESS_THAN_OR_EQUAL"},
        "OK",
    ),
    "stddev": (
        {"source": {"name": "n", "aggregation": "STDDEV"}, "comparison_operator": "LESS_THAN"},
        "TRIGGERED",
    ),
    "count": (
        {"source": {"name": "s", "aggregation": "COUNT"}, "comparison_operator": "NOT_EQUAL"},
        "TRIGGERED",
    ),
    "distinct": (
        {
            "source": {"name": "s", "aggregation": "COUNT_DISTINCT"},
            "comparison_operator": "EQUAL",
            "threshold": {"value": {"double_value": 2}},
        },
        "TRIGGERED",
    ),
    "text": (
        {
            "source": {"name": "s"},
            "comparison_operator": "EQUAL",
            "threshold": {"value": {"string_value": "a"}},
        },
        "TRIGGERED",
    ),
    "text of a number": (
        {
            "source": {"name": "n"},
            "comparison_operator": "EQUAL",
            "threshold": {"value": {"string_value": "3.0"}},
        },
        "TRIGGERED",
    ),
    "another column": (
        {
            "source": {"name": "n"},
            "comparison_operator": "LESS_THAN",
            "threshold": {"column": {"name": "n", "aggregation": "MAX"}},
        },
        "TRIGGERED",
    ),
    "no column": ({"source": {"name": "x"}, "comparison_operator": "EQUAL"}, "ERROR"),
    "sum of texts": (
        {"source": {"name": "s", "aggregation": "SUM"}, "comparison_operator": "EQUAL"},
        "ERROR",
    ),
    "null": ({"source": {"name": "s"}, "comparison_operator": "IS_NULL"}, "OK"),
    "not null": ({"source": {"name": "s"}, "comparison_operator": "IS_NOT_NULL"}, "TRIGGERED"),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_state_of_a_result(name: str) -> None:
    condition, expected = CONDITIONS[name]
    rows, types = NUMBERS
    columns = [{"name": column, "type_name": kind} for column, kind in zip("ns", types, strict=True)]
    assert alert_state({"threshold": {"value": _VALUE}, **condition}, columns, rows) == expected


@pytest.mark.parametrize("state", ["OK", "TRIGGERED", "ERROR", None])
def test_the_state_of_an_empty_result(state: str | None) -> None:
    condition = {"source": {"name": "n"}, "comparison_operator": "EQUAL", "empty_result_state": state}
    assert alert_state(condition, [{"name": "n", "type_name": "INT"}], []) == (state or "UNKNOWN")


@pytest.mark.slow
@pytest.mark.process
def test_alerts_are_evaluated_by_their_schedule(tmp_path: Path) -> None:
    every = sql.CronSchedule("* * * * * ?", "UTC")
    paused = sql.CronSchedule("* * * * * ?", "UTC", sql.SchedulePauseStatus.PAUSED)
    parameter = sql.AlertStatementParameter(name="p", type="INT", value="3")
    texts: dict[str, tuple[str, dict[str, Any]]] = {
        "TRIGGERED": ("SELECT 3 + :p AS n", {"schedule": every, "parameters": [parameter]}),
        "OK": ("SELECT 1 AS n WHERE false", {"schedule": every}),
        "ERROR": ("SELECT n FROM absent", {"schedule": every}),
        "UNKNOWN": ("SELECT 9 AS n", {"schedule": paused}),
    }
    with running(tmp_path, "--with-schedules") as server:
        client = sdk.WorkspaceClient(host=server.host, token=server.token)
        made = {
            state: client.alerts_v2.create_alert(_alert(query_text=text, **fields)).id
            for state, (text, fields) in texts.items()
        }
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            found = {state: client.alerts_v2.get_alert(key).evaluation for state, key in made.items()}
            if all(found[state].state.value == state for state in made):
                break
            time.sleep(1)
        assert {state: each.state.value for state, each in found.items()} == {state: state for state in made}
        assert found["TRIGGERED"].last_evaluated_at and not found["UNKNOWN"].last_evaluated_at
