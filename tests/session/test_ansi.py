"""An error that ANSI mode causes names the runtime, where no runtime was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward.session import (
    ANSI_CONDITIONS,
    DEFAULT_PROFILE,
    Settings,
    ansi_hint,
    condition_of,
    removed_function_hint,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = "[CAST_INVALID_INPUT] The value 'x' of the type STRING cannot be cast. SQLSTATE: 22018"


@pytest.fixture
def ansi(spark: SparkSession) -> Iterator[SparkSession]:
    before = spark.conf.get("spark.sql.ansi.enabled")
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", before)


@pytest.mark.parametrize("condition", ANSI_CONDITIONS)
def test_a_condition_of_the_table_comes_with_ansi_mode_alone(ansi: SparkSession, condition: str) -> None:
    ansi.conf.set("spark.sql.ansi.enabled", "true")
    with pytest.raises(Exception) as raised:  # noqa: PT011  # the condition is compared below
        ansi.sql(ANSI_CONDITIONS[condition]).collect()
    found = condition_of(raised.value) or ""
    assert found == condition or found.startswith(f"{condition}.")
    ansi.conf.set("spark.sql.ansi.enabled", "false")
    ansi.sql(ANSI_CONDITIONS[condition]).collect()


def test_the_default_runtime_is_named_with_the_ways_to_choose(tmp_path: Path) -> None:
    hint = ansi_hint(TEXT, Settings.here(tmp_path, environ={})) or ""
    parts = (DEFAULT_PROFILE, "--runtime 16.4", "LAKEWARD_PROFILE=16.4", 'runtime = "16.4"')
    assert all(part in hint for part in parts)


@pytest.mark.parametrize("condition", [*ANSI_CONDITIONS, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"])
def test_every_condition_of_the_table_is_found_in_a_text(tmp_path: Path, condition: str) -> None:
    assert ansi_hint(f"Task a: [{condition}] what happened", Settings.here(tmp_path, environ={}))


@pytest.mark.parametrize(
    "text", ["", "[TABLE_OR_VIEW_NOT_FOUND] no", "DIVIDE_BY_ZERO", "[DATATYPE_MISMATCH.X]"]
)
def test_other_errors_have_no_hint(tmp_path: Path, text: str) -> None:
    assert ansi_hint(text, Settings.here(tmp_path, environ={})) is None


def test_a_chosen_runtime_or_mode_has_no_hint(tmp_path: Path) -> None:
    for environ in ({"LAKEWARD_PROFILE": DEFAULT_PROFILE}, {"LAKEWARD_PINNED_RUNTIME": "18.3"}):
        assert ansi_hint(TEXT, Settings.here(tmp_path, environ=environ)) is None
    assert ansi_hint(TEXT, Settings.here(tmp_path, environ={}, profile="17.3")) is None
    conf = {"spark.sql.ansi.enabled": "true"}
    assert ansi_hint(TEXT, Settings.here(tmp_path, environ={}, conf=conf)) is None
    (tmp_path / "pyproject.toml").write_text(f'[tool.lakeward]\nruntime = "{DEFAULT_PROFILE}"\n')
    assert ansi_hint(TEXT, Settings.here(tmp_path, environ={})) is None


@pytest.mark.parametrize("runtime", [None, "serverless", "17.3", "18.3"])
def test_a_removed_function_names_the_runtime_and_one_that_has_it(
    runtime: str | None, tmp_path: Path
) -> None:
    text = "[UC_COMMAND_NOT_SUPPORTED] The command(s): input_file_name are not supported in Unity Catalog."
    hint = removed_function_hint(text, Settings.here(tmp_path, environ={}, profile=runtime)) or ""
    assert (runtime or DEFAULT_PROFILE) in hint
    assert "--runtime 16.4" in hint and ("default" in hint) == (runtime is None)
    assert removed_function_hint("input_file_name", Settings.here(tmp_path, environ={})) is None
