"""`lakeward --version`, and what a bug report gets: versions, and nothing that names a person or a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward import __version__
from lakeward.cli.version_report import PACKAGES, version_lines
from tests.cli.inside import Inside


def facts(lines: list[str]) -> dict[str, str]:
    return {name: value.strip() for name, _, value in (line.partition(" ") for line in lines)}


def test_the_version_is_one_line(without_spark: Inside) -> None:
    ran = without_spark("--version")
    assert (ran.returncode, ran.stdout) == (0, f"lakeward {__version__}\n")


@pytest.mark.parametrize("order", [("--version", "--verbose"), ("--verbose", "--version")])
def test_verbose_adds_packages_java_and_platform(without_spark: Inside, order: tuple[str, ...]) -> None:
    ran = without_spark(*order)
    assert ran.returncode == 0
    found = facts(ran.stdout.splitlines())
    assert found["lakeward"].startswith(__version__)
    assert found["pyspark"] == "4.2.0"
    assert set(PACKAGES) <= found.keys()
    assert "(" in found["java"]


def test_verbose_without_version_is_wrong_usage(without_spark: Inside) -> None:
    for arguments in (("--verbose",), ("--verbose", "stop")):
        ran = without_spark(*arguments)
        assert ran.returncode == 2
        assert "--version" in ran.stderr


def test_values_of_variables_users_and_folders_are_not_printed(tmp_path: Path) -> None:
    old = tmp_path / "jdk of ann" / "bin" / "java"
    old.parent.mkdir(parents=True)
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    (old.parent.parent / "release").write_text('JAVA_VERSION="1.8.0_402"\n')
    environ = {
        "JAVA_HOME": str(old.parent.parent),
        "LAKEWARD_HOME": "/home/ann/secret",
        "LAKEWARD_JARS": "/home/ann/jars",
        "HOME": "/home/ann",
        "PATH": "",
    }
    lines = version_lines(environ)
    found = facts(lines)
    assert found["variables"] == "LAKEWARD_HOME, LAKEWARD_JARS"
    assert found["jars"] == "LAKEWARD_JARS"
    assert "JAVA_HOME: version 8, too old" in found["java"]
    assert "ann" not in "\n".join(lines)


def test_no_arguments_show_the_help(without_spark: Inside) -> None:
    ran = without_spark()
    assert ran.returncode == 0
    assert ran.stdout.startswith("Usage: lakeward")
    assert ran.stderr == ""
