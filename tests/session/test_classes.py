"""The class archive: used when whole, written by one process, never a reason to fail."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lakeward.session.jvm.class_data_sharing import class_options


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Java that has an archive of its own; running it accepts only files that say `whole`."""
    monkeypatch.setenv("LAKEWARD_CACHE", str(tmp_path / "cache"))
    binary = tmp_path / "jre" / "bin" / "java"
    binary.parent.mkdir(parents=True)
    binary.write_text(
        "#!/bin/sh\nfor a do\ncase $a in\n"
        "-Xshare:dump) dumps=1;;\n"
        "-XX:SharedArchiveFile=*) files=$(echo ${a#*=} | tr : ' ');;\nesac\ndone\n"
        'for f in $files; do test $dumps && echo whole >$f; grep -q whole "$f" || exit 1; done\n'
    )
    binary.chmod(0o755)
    base = tmp_path / "jre" / "lib" / "server" / "classes.jsa"
    base.parent.mkdir(parents=True)
    base.touch()
    return binary


def part(options: list[str]) -> Path:
    """Where the options say that the archive is written."""
    return Path(next(o for o in options if o.startswith("-XX:ArchiveClassesAtExit=")).split("=", 1)[1])


def aged(path: Path, content: str, seconds: float) -> None:
    path.write_text(content)
    os.utime(path, (time.time() - seconds, time.time() - seconds))


def test_the_first_start_writes_the_archive_and_the_next_ones_wait(java: Path) -> None:
    assert part(class_options(java, "", "4.2.0"))
    assert class_options(java, "", "4.2.0") == []


def test_a_whole_archive_is_used_from_then_on(java: Path) -> None:
    aged(part(class_options(java, "", "4.2.0")), "whole", 10)
    for _ in range(2):
        assert any(o.startswith("-XX:SharedArchiveFile=") for o in class_options(java, "", "4.2.0"))


def test_an_archive_that_is_cut_off_or_still_written_is_not_used(java: Path) -> None:
    archive = part(class_options(java, "", "4.2.0"))
    aged(archive, "ha", 10)
    assert class_options(java, "", "4.2.0") == []
    aged(archive, "whole", 0)
    assert class_options(java, "", "4.2.0") == []


def test_a_process_that_was_killed_while_writing_gives_way_to_the_next(java: Path) -> None:
    archive = part(class_options(java, "", "4.2.0"))
    aged(archive, "ha", 1000)
    aged(archive.with_suffix(".claim"), "", 1000)
    assert part(class_options(java, "", "4.2.0")) == archive
    assert not archive.exists()


def test_another_spark_has_another_archive(java: Path) -> None:
    assert part(class_options(java, "", "4.2.0")) != part(class_options(java, "", "4.2.1"))


@pytest.fixture
def cut_down(java: Path) -> Path:
    """A Java without an archive of its own."""
    (java.parent.parent / "lib" / "server" / "classes.jsa").unlink()
    return java


def test_a_runtime_without_an_archive_of_its_own_gets_one_to_build_on(cut_down: Path) -> None:
    [_, based, later] = class_options(cut_down, "", "4.2.0")
    base = Path(based.removeprefix("-XX:SharedArchiveFile="))
    assert base.read_text() == "whole\n"
    assert class_options(cut_down, "", "4.2.0")[2] == based
    archive = part([later])
    aged(archive, "whole", 10)
    [*_, both] = class_options(cut_down, "", "4.2.0")
    assert both == f"{based}:{archive.with_suffix('.jsa')}"


def test_a_runtime_that_cannot_have_an_archive_is_queried_once(cut_down: Path) -> None:
    cut_down.write_text(f"#!/bin/sh\necho >>{cut_down}.calls\nexit 1\n")
    assert class_options(cut_down, "", "4.2.0") == []
    assert class_options(cut_down, "", "4.2.0") == []
    assert Path(f"{cut_down}.calls").read_text() == "\n"


def test_switched_off_nothing_is_requested(java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEWARD_CLASS_ARCHIVE", "0")
    assert class_options(java, "", "4.2.0") == []
