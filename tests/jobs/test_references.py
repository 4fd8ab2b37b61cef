"""Dynamic value references."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from lakeward.errors import ConfigurationError
from lakeward.jobs.dynamic_values import (
    RunTrigger,
    job_references,
    loop_input_references,
    resolve_references,
    resolved_parameters,
    task_references,
    task_value_references,
)


def known(**parameters: str) -> dict[str, str]:
    return job_references(
        parameters,
        job_id=11,
        job_name="daily",
        run_id="42",
        started=datetime(2026, 3, 1, 4, 5, 6, tzinfo=timezone.utc),
        trigger=RunTrigger(
            "file_arrival",
            datetime(2026, 2, 28, 23, 59, tzinfo=timezone.utc),
            "/Volumes/a/b/in/",
            "77",
            "http://127.0.0.1:1",
        ),
    )


KNOWN = known(day="7", **{"with space": "8"}) | task_references(
    "load", {"notebook_path": "/Workspace/load"}, run_id="43", execution=2
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{job.parameters.day}}", "7"),
        ("{{job.parameters.[day]}}", "7"),
        ("{{ job.parameters.[day] }}-{{job.parameters.`day`}}", "7-7"),
        ("d={{ job.parameters.day }}!", "d=7!"),
        ("{{job.run_id}}/{{job.id}}/{{job.name}}", "42/11/daily"),
        ("{{job.start_time.iso_date}}", "2026-03-01"),
        ("{{job.start_time.iso_datetime}}", "2026-03-01T04:05:06Z"),
        ("{{job.start_time.iso_weekday}}", "7"),
        ("{{job.start_time.is_weekday}}", "false"),
        ("{{job.start_time.timestamp_ms}}", "1772337906000"),
        ("{{job.trigger.type}} {{job.trigger.time.iso_date}}", "file_arrival 2026-02-28"),
        ("{{job.trigger.file_arrival.location}}", "/Volumes/a/b/in/"),
        ("{{workspace.id}} {{workspace.url}}", "77 http://127.0.0.1:1"),
        ("{{task.name}} {{task.run_id}} {{task.execution_count}}", "load 43 2"),
        ("{{task.notebook_path}}", "/Workspace/load"),
        ("{{job.parameters.`with space`}} {{`job`.run_id}}", "8 42"),
        ("{{job_id}} {{run_id}} {{parent_run_id}} {{task_key}}", "11 43 42 load"),
        ("{{start_date}} {{start_time}} {{task_retry_count}}", "2026-03-01 1772337906000 1"),
        ("{{secrets/scope/key}}", "{{secrets/scope/key}}"),
        ("{x} {{}} {{my.value}", "{x} {{}} {{my.value}"),
        ("{{ ds }} {{params.day}}", "{{ ds }} {{params.day}}"),
    ],
)
def test_references_are_replaced_wherever_they_stand(text: str, value: str) -> None:
    assert resolve_references({"a": [text], "n": 1}, KNOWN, where="t") == {"a": [value], "n": 1}


def test_a_value_is_not_read_for_references_again() -> None:
    known = {"job.parameters.a": "{{job.run_id}}"}
    assert resolve_references("{{job.parameters.a}}", known, where="t") == "{{job.run_id}}"


def test_a_parameter_is_made_of_what_is_known_of_the_run() -> None:
    found = known(day="{{job.trigger.time.iso_date}}", twice="{{job.parameters.day}}")
    assert resolved_parameters(found) == {"day": "2026-02-28", "twice": "{{job.parameters.day}}"}
    assert found["job.parameters.day"] == "2026-02-28"
    with pytest.raises(ConfigurationError, match="in the parameter `day` has no value"):
        known(day="{{tasks.a.values.b}}")


def test_values_and_rows_of_tasks_are_texts_or_json() -> None:
    values = {("a", "n"): "3", ("a", "t"): '"x"', ("a", "l"): '["x", 1]'}
    values |= {("q", "\0output"): '[{"id": 1, "name": "x"}]', ("n", "\0exit"): '"left"'}
    assert task_value_references(values) == {
        "tasks.a.values.n": "3",
        "tasks.a.values.t": "x",
        "tasks.a.values.l": '["x", 1]',
        "tasks.q.output.rows": '[{"id": 1, "name": "x"}]',
        "tasks.q.output.first_row.id": "1",
        "tasks.q.output.first_row.name": "x",
    }


def test_an_unknown_reference_names_its_task_and_near_misses() -> None:
    with pytest.raises(ConfigurationError, match="in the task `t` is not a value of this job") as caught:
        resolve_references("{{job.parameters.dya}}", KNOWN, where="the task `t`")
    assert "`job.parameters.day`" in str(caught.value)
    with pytest.raises(ConfigurationError, match="is not a value of this job"):
        resolve_references("{{job.notebook_url}}", KNOWN, where="the task `t`")


@pytest.mark.parametrize(
    "written", ["job.parametrs.day", "job.parameter.day", "job.parameters.dya", "job.params.day"]
)
def test_only_parameters_are_suggested_for_a_parameter(written: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        resolve_references(f"{{{{{written}}}}}", KNOWN, where="t")
    assert "Did you mean `job.parameters.day`? Known parameters: day, with space." in str(caught.value)
    with pytest.raises(
        ConfigurationError, match=r"The job has no parameters\. Declare `da?ya?` in its `parameters`."
    ):
        resolve_references(f"{{{{{written}}}}}", known(), where="t")


@pytest.mark.parametrize("text", ["{{tasks.a.values.b}}", "{{input}}"])
def test_what_only_a_running_task_knows_stays_until_then_and_is_missed_afterwards(text: str) -> None:
    assert resolve_references(text, KNOWN, where="t", late=True) == text
    with pytest.raises(ConfigurationError, match="has no value"):
        resolve_references(text, KNOWN, where="t")


def test_the_input_of_a_loop_is_a_text_or_json_with_its_fields() -> None:
    assert loop_input_references("a") == {"input": "a"}
    assert loop_input_references({"day": "1", "n": 2}) == {
        "input": '{"day": "1", "n": 2}',
        "input.day": "1",
        "input.n": "2",
    }
