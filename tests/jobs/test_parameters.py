"""Job parameters and dynamic value references."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from lakeward.errors import ConfigurationError
from lakeward.jobs.parameters import of_input, references, substituted, values_of

JOB = {"parameters": [{"name": "source", "default": ""}, {"name": "days", "default": 3}]}
KNOWN = references(
    parameters={"day": "7"},
    job_id=11,
    job_name="daily",
    run_id="42",
    started=datetime(2026, 3, 1, 4, 5, 6, tzinfo=timezone.utc),
)


def test_defaults_are_texts_and_given_values_replace_them() -> None:
    assert values_of("j", JOB, {}) == {"source": "", "days": "3"}
    assert values_of("j", JOB, {"days": "1"}) == {"source": "", "days": "1"}


def test_an_unknown_parameter_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationError) as caught:
        values_of("j", JOB, {"day": "1"})
    assert "Did you mean `days`" in str(caught.value)
    assert "days, source" in str(caught.value)
    with pytest.raises(ConfigurationError, match="The job has no parameters"):
        values_of("j", {}, {"day": "1"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{job.parameters.day}}", "7"),
        ("d={{ job.parameters.day }}!", "d=7!"),
        ("{{job.run_id}}/{{job.id}}/{{job.name}}", "42/11/daily"),
        ("{{job.start_time.iso_date}}", "2026-03-01"),
        ("{{job.start_time.iso_datetime}}", "2026-03-01T04:05:06Z"),
        ("{{job.start_time.iso_weekday}}", "7"),
        ("{{job.start_time.is_weekday}}", "false"),
        ("{{job.start_time.timestamp_ms}}", "1772337906000"),
        ("{{secrets/scope/key}}", "{{secrets/scope/key}}"),
        ("{x} {{}}", "{x} {{}}"),
    ],
)
def test_references_are_replaced_wherever_they_stand(text: str, value: str) -> None:
    assert substituted({"a": [text], "n": 1}, KNOWN, where="t") == {"a": [value], "n": 1}


def test_a_value_is_not_read_for_references_again() -> None:
    known = {"job.parameters.a": "{{job.run_id}}"}
    assert substituted("{{job.parameters.a}}", known, where="t") == "{{job.run_id}}"


def test_an_unknown_reference_names_its_task_and_near_misses() -> None:
    with pytest.raises(ConfigurationError, match="in the task `t` is not a value of this job") as caught:
        substituted("{{job.parameters.dya}}", KNOWN, where="the task `t`")
    assert "`job.parameters.day`" in str(caught.value)


@pytest.mark.parametrize("text", ["{{tasks.a.values.b}}", "{{input}}"])
def test_what_only_a_running_task_knows_stays_until_then_and_is_missed_afterwards(text: str) -> None:
    assert substituted(text, KNOWN, where="t", late=True) == text
    with pytest.raises(ConfigurationError, match="has no value"):
        substituted(text, KNOWN, where="t")


def test_the_input_of_a_loop_is_a_text_or_json_with_its_fields() -> None:
    assert of_input("a") == {"input": "a"}
    assert of_input({"day": "1", "n": 2}) == {
        "input": '{"day": "1", "n": 2}',
        "input.day": "1",
        "input.n": "2",
    }
