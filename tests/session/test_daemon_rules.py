"""When a daemon is used, and which one: no JVM is started here."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lakeward.session.daemon import is_wanted
from lakeward.session.daemon.acquisition import daemon_key, jvm_environment, resolve_files
from lakeward.session.daemon.registry import (
    Record,
    ensure_records_folder,
    is_running,
    read_record,
    records_folder,
    remove_record,
    start_lock,
    write_record,
)


@pytest.mark.parametrize(
    ("environ", "by_command", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"LAKEWARD_DAEMON": "1"}, False, True),
        ({"LAKEWARD_DAEMON": "0"}, True, False),
        ({"LAKEWARD_COLD": "1", "LAKEWARD_DAEMON": "1"}, True, False),
        ({"LAKEWARD_COLD": "0"}, True, True),
        ({"CI": "true", "LAKEWARD_DAEMON": "1"}, True, False),
        ({"CI": "false"}, True, True),
        ({"PYTEST_CURRENT_TEST": "t"}, True, False),
        ({"PYTEST_VERSION": "9", "LAKEWARD_DAEMON": "1"}, False, True),
    ],
)
def test_who_uses_one(environ: dict[str, str], by_command: bool, wanted: bool) -> None:
    assert is_wanted(environ, by_command=by_command) is wanted


CONF = {"spark.driver.memory": "2g", "spark.jars": "/a.jar", "spark.sql.shuffle.partitions": "2"}


def name(conf: dict[str, str] = CONF, java: str = "/java", version: str = "1", **environ: str) -> str:
    return daemon_key(conf, environ=environ, java=Path(java), version=version)


def test_what_a_session_sets_again_makes_no_other_jvm() -> None:
    same = {**CONF, "spark.sql.shuffle.partitions": "7", "spark.app.name": "x", "spark.hadoop.a": "b"}
    assert name(same) == name({**same, "spark.sql.warehouse.dir": "/elsewhere", "theirs": "1"}) == name()
    assert name(HOME="/h", STAGE="test") == name()


def test_what_is_decided_at_the_start_makes_another_jvm() -> None:
    others = [
        name({**CONF, "spark.driver.memory": "3g"}),
        name({**CONF, "spark.jars": "/b.jar"}),
        name(java="/other"),
        name(version="2"),
        name(AWS_PROFILE="x"),
        name(TZ="Asia/Tokyo"),
    ]
    assert len({name(), *others}) == len(others) + 1


def test_the_jvm_has_nothing_of_the_commands_environment_but_what_java_reads() -> None:
    environ = {"PATH": "/bin", "AWS_REGION": "eu", "PYTHONPATH": "/p", "DB_PASSWORD": "secret", "LANG": "C"}
    assert jvm_environment(environ) == {"PATH": "/bin", "AWS_REGION": "eu", "LANG": "C"}


def test_files_in_settings_are_meant_from_where_the_command_stands() -> None:
    conf = {"spark.jars": "a.jar,/b.jar,s3://c/d.jar", "spark.files": "", "spark.app.name": "a.jar"}
    assert resolve_files(conf, Path("/w")) == {**conf, "spark.jars": "/w/a.jar,/b.jar,s3://c/d.jar"}


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAKEWARD_CACHE", str(tmp_path))
    made = ensure_records_folder()
    assert made == records_folder()
    return made


def test_a_record_comes_back_as_it_was_and_only_its_user_reads_it(records: Path) -> None:
    file = records / "k.json"
    record = Record(1, 2, "secret", "/", 3.0)
    write_record(file, record)
    assert read_record(file) == record
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(records.stat().st_mode) == 0o700
    file.write_text('{"pid": 1')
    assert read_record(file) is None
    remove_record(file)
    assert list(records.iterdir()) == []


def test_a_folder_that_others_may_read_is_closed_to_them(records: Path) -> None:
    records.chmod(0o755)
    assert ensure_records_folder() == records
    assert stat.S_IMODE(records.stat().st_mode) == 0o700


def test_where_no_folder_can_be_made_there_is_no_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LAKEWARD_CACHE", str(tmp_path / "file"))
    assert ensure_records_folder() is None


def test_a_process_with_the_number_of_a_jvm_that_has_ended_is_not_taken_for_it(records: Path) -> None:
    assert not is_running(records / "k.json", os.getpid())


def test_one_process_at_a_time_starts_a_jvm(records: Path) -> None:
    file = records / "k.json"
    with start_lock(file) as alone:
        assert alone
        child = os.fork()
        if child == 0:
            with start_lock(file) as too:
                os._exit(int(too))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
