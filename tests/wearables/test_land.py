"""Landing: each file once, whole, under its own name, in the order of the names; clear words for the rest."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wearables.jobs.land import LandingError, land, main

DAYS = ["2019-12-16.json.gz", "2019-12-17.json", "2019-12-18.json.gz"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "daily").mkdir(parents=True)
    for name in DAYS:
        content = f"{name}\n".encode() * 1000
        (folder / "daily" / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (folder / "registrations.json").write_text("{}\n")
    return folder


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    return tmp_path / "landing"


def landed(landing: Path) -> list[str]:
    return sorted(path.relative_to(landing).as_posix() for path in landing.rglob("*") if path.is_file())


def test_everything_lands_unchanged(source: Path, landing: Path) -> None:
    done = land(str(source), str(landing))
    assert done.taken == ("registrations.json", *DAYS)
    assert landed(landing) == [*(f"daily/{name}" for name in DAYS), "registrations/registrations.json"]
    for name in DAYS:
        assert (landing / "daily" / name).read_bytes() == (source / "daily" / name).read_bytes()


def test_gym_logs_land_in_a_folder_of_their_own_whatever_the_number_of_days(
    source: Path, landing: Path
) -> None:
    (source / "gym").mkdir()
    for name in ("20191216_north.json", "20191217_north.json", "notes.txt"):
        (source / "gym" / name).write_text("{}\n")
    land(str(source), str(landing), days=1)
    assert [name for name in landed(landing) if name.startswith("gym")] == [
        "gym_logs/20191216_north.json",
        "gym_logs/20191217_north.json",
    ]


def test_a_second_call_touches_nothing(source: Path, landing: Path) -> None:
    land(str(source), str(landing))
    before = {path: path.stat().st_mtime_ns for path in landing.rglob("*")}
    assert land(str(source), str(landing)).taken == ()
    assert {path: path.stat().st_mtime_ns for path in landing.rglob("*")} == before


def test_days_takes_new_daily_files_in_the_order_of_their_names(source: Path, landing: Path) -> None:
    assert land(str(source), str(landing), days=1).taken == ("registrations.json", DAYS[0])
    assert land(str(source), str(landing), days=1).taken == (DAYS[1],)
    done = land(str(source), str(landing), days=5)
    assert (done.taken, done.left) == ((DAYS[2],), 0)


def test_a_file_of_an_earlier_day_that_comes_late_lands_too(source: Path, landing: Path) -> None:
    late = source / "daily" / DAYS[0]
    content = late.read_bytes()
    late.unlink()
    land(str(source), str(landing))
    late.write_bytes(content)
    assert land(str(source), str(landing), days=1).taken == (DAYS[0],)


def test_hidden_and_foreign_files_stay_where_they_are(source: Path, landing: Path) -> None:
    for name in ("daily/.part.json", "daily/_part.json", "daily/notes.txt", "devices.json"):
        (source / name).write_text("{}")
    land(str(source), str(landing))
    assert landed(landing) == [*(f"daily/{name}" for name in DAYS), "registrations/registrations.json"]


def test_a_file_that_changed_after_landing_is_reported_and_not_replaced(
    source: Path, landing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    land(str(source), str(landing))
    with (source / "daily" / DAYS[1]).open("a") as file:
        file.write("more\n")
    main(["--source", str(source), "--landing", str(landing)])
    assert f"{DAYS[1]} has another size than the file that landed" in capsys.readouterr().out
    assert "more" not in (landing / "daily" / DAYS[1]).read_text()


def test_named_parameters_of_the_whole_job_are_taken_as_they_come(source: Path, landing: Path) -> None:
    main([f"--source={source}", "--days=2", f"--landing={landing}", "--for_another_task=x"])
    assert landed(landing)[:2] == [f"daily/{name}" for name in DAYS[:2]]


KILLED_COPY = """
import os, signal, shutil, sys
from wearables.jobs.land import land
def half(origin, copy, length):
    copy.write(origin.read(20)); copy.flush()
    os.kill(os.getpid(), signal.SIGKILL)
shutil.copyfileobj = half
land(sys.argv[1], sys.argv[2])
"""


def test_a_kill_in_the_middle_of_a_copy_leaves_no_half_file_and_the_next_call_continues(
    source: Path, landing: Path
) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED_COPY, str(source), str(landing)], check=False)
    assert ended.returncode == -signal.SIGKILL
    visible = [path.name for path in landing.rglob("*") if path.is_file() and not path.name.startswith(".")]
    assert visible == []
    land(str(source), str(landing))
    assert landed(landing) == [*(f"daily/{name}" for name in DAYS), "registrations/registrations.json"]


def test_a_full_disk_is_an_error_that_leaves_nothing_behind(
    source: Path, landing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_origin: Any, copy: Any, _length: int) -> None:
        copy.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copyfileobj", full)
        with pytest.raises(LandingError, match=r"could not be copied .*No space left on device.*Run again"):
            land(str(source), str(landing))
    assert landed(landing) == []
    land(str(source), str(landing))
    assert len(landed(landing)) == 4


def test_a_truncated_archive_never_lands_and_lands_once_it_is_whole(source: Path, landing: Path) -> None:
    file = source / "daily" / DAYS[0]
    whole = file.read_bytes()
    file.write_bytes(whole[:-10])
    with pytest.raises(LandingError, match=rf"{DAYS[0]} is a damaged gzip file.*Deliver it again"):
        land(str(source), str(landing))
    assert not [name for name in landed(landing) if "daily" in name]
    file.write_bytes(whole)
    land(str(source), str(landing))
    assert (landing / "daily" / DAYS[0]).read_bytes() == whole


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda source: shutil.rmtree(source), "The source folder .* does not exist"),
        (
            lambda source: (shutil.rmtree(source), source.mkdir()),
            "holds nothing to land. It should hold daily/",
        ),
        (lambda source: (shutil.rmtree(source), source.write_text("")), "is a file, not a folder"),
        (
            lambda source: (shutil.rmtree(source / "daily"), (source / "daily").write_text("")),
            "daily is a file; a folder is expected there",
        ),
        (lambda source: (source / "daily" / "2020-01-01.json").mkdir(), "2020-01-01.json is not a file"),
        (lambda source: (source / "registrations_2.json").mkdir(), "registrations_2.json is not a file"),
    ],
)
def test_a_source_that_is_not_as_it_should_be_is_refused_before_anything_lands(
    source: Path, landing: Path, spoil: Any, message: str
) -> None:
    spoil(source)
    with pytest.raises(LandingError, match=message):
        land(str(source), str(landing))
    assert not landing.exists()


def test_without_a_source_the_parameter_is_named(landing: Path) -> None:
    with pytest.raises(LandingError, match="There is no source folder"):
        main(["--source=", "--days=", f"--landing={landing}"])


def test_a_landing_folder_that_is_a_file_is_named(source: Path, landing: Path) -> None:
    landing.write_text("")
    with pytest.raises(LandingError, match=r"The landing folder .* cannot be used"):
        land(str(source), str(landing))


@pytest.mark.parametrize("days", ["0", "-1", "two", "1.5"])
def test_days_must_be_a_whole_number_from_one_on(source: Path, landing: Path, days: str) -> None:
    with pytest.raises(LandingError, match=r"`days` is .*whole number from 1 on"):
        main([f"--source={source}", f"--landing={landing}", f"--days={days}"])
