"""Mounts come from pyproject.toml, from LAKEWARD_MOUNTS and from arguments, the later before the earlier."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeward.errors import ConfigurationError
from lakeward.session import MOUNTS_VARIABLE, PathMap, Settings


def _project(folder: Path, table: str) -> Path:
    (folder / "pyproject.toml").write_text(table)
    return folder


def test_folders_of_the_table_are_relative_to_its_file(tmp_path: Path) -> None:
    _project(tmp_path, '[tool.lakeward.mounts]\n"s3://raw" = "data/raw"\n"/Volumes/c/s/v/" = "../v"\n')
    below = tmp_path / "src" / "jobs"
    below.mkdir(parents=True)
    for folder in (tmp_path, below):
        settings = Settings.here(folder, environ={})
        assert settings.mounts == (
            ("s3://raw", f"{tmp_path}/data/raw"),
            ("/Volumes/c/s/v", f"{tmp_path.parent}/v"),
        )
        assert PathMap.of(settings).local("s3a://raw/x.csv") == f"{tmp_path}/data/raw/x.csv"
        assert PathMap.of(settings).local("dbfs:/Volumes/c/s/v/x") == f"{tmp_path.parent}/v/x"


def test_the_variable_wins_over_the_table_and_arguments_over_both(tmp_path: Path) -> None:
    _project(tmp_path, '[tool.lakeward.mounts]\n"s3://a" = "t"\n"s3://b" = "t"\n"s3://c" = "t"\n')
    environ = {MOUNTS_VARIABLE: json.dumps({"s3://b": "/v", "s3://c": "/v"})}
    settings = Settings.here(tmp_path, environ=environ, mounts=(("s3://c", "/m"),))
    assert dict(settings.mounts) == {"s3://a": f"{tmp_path}/t", "s3://b": "/v", "s3://c": "/m"}


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('[tool.lakeward]\nmounts = "s3://raw=x"', "s3://raw=x"),
        ('[tool.lakeward]\nmounts = ["x"]', "x"),
        ("[tool.lakeward.mounts]\n's3://raw' = 3", "s3://raw"),
        ("[tool.lakeward.mounts]\n's3://raw' = ''", "s3://raw"),
        ("[tool.lakeward.mounts]\n's3://raw' = ['a']", "s3://raw"),
        ("[tool.lakeward.mounts]\n's3://' = 'a'", "s3://"),
        ("[tool.lakeward.mounts]\n'dbfs:/' = 'a'", "dbfs:/"),
        ("[tool.lakeward.mounts]\n'/' = 'a'", "'/'"),
        ("[tool.lakeward.mounts]\n'data' = 'a'", "data"),
        ("[tool.lakeward.mounts]\n'' = 'a'", "''"),
        ("[tool.lakeward.mounts]\n's3://raw' = 'pyproject.toml'", "s3://raw"),
    ],
)
def test_a_bad_entry_names_file_and_key(tmp_path: Path, table: str, key: str) -> None:
    _project(tmp_path, table)
    with pytest.raises(ConfigurationError) as failed:
        Settings.here(tmp_path, environ={})
    assert failed.value.condition == "MOUNT_INVALID"
    assert f"{tmp_path}/pyproject.toml" in failed.value.message
    assert key in failed.value.message


@pytest.mark.parametrize("text", ["{", "[]", '"x"', '{"data": "x"}'])
def test_a_bad_variable_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=MOUNTS_VARIABLE):
        Settings.here(tmp_path, environ={MOUNTS_VARIABLE: text})
