"""`/Volumes` in Spark's Python workers, whichever way Spark starts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakeward.session.paths import PathMap
from lakeward.session.worker_paths import PATHS, worker_environment
from tests.processes import outcome

ROOM = Path(__file__).parent
SITE = ROOM.parents[1] / "src" / "lakeward" / "session" / "worker_site"


@pytest.mark.process
def test_udfs_and_data_sources_open_files_of_a_volume_in_every_kind_of_worker(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "c" / "s" / "v").mkdir(parents=True)
        (tmp_path / name / "c" / "s" / "v" / "x.txt").write_text(name)
    newer = 'def read(names):\n    with open(f"{names["file"]}") as file:\n        return file.read()\n'
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "newer.py").write_text(newer)
    story = [sys.executable, str(ROOM / "worker_story.py"), str(tmp_path)]
    # A file that another process has compiled would hide that a worker cannot.
    python_path = os.pathsep.join([*sys.path, str(tmp_path / "modules")])
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": python_path}
    done = outcome(story, timeout=240, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "udf": "one",
        "pandas": "one",
        "import": "one",
        "schema": "one",
        "source": "planned one, read one",
        "stream": "offset one, read one",
        "another map": "two",
    }
    # Read by another program: in this process the name may be mapped by now.
    assert "Volumes" not in os.listdir("/")


def test_a_python_that_starts_with_the_environment_has_the_mapping(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("read")
    environment = worker_environment(PathMap((("/Volumes", str(tmp_path)),)), {})
    code = "print(open('/Volumes/x.txt').read())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    assert (done.stdout, done.stderr) == ("read\n", "")


def test_a_python_that_starts_with_the_environment_reads_newer_f_strings(tmp_path: Path) -> None:
    (tmp_path / "newer.py").write_text("""name = f"{dict(a="b")["a"]}"\n""")
    environment = worker_environment(PathMap(()), {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])})
    done = subprocess.run(
        [sys.executable, "-c", "import newer; print(newer.name)"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )
    assert (done.stdout, done.stderr) == ("b\n", "")


def test_a_sitecustomize_that_was_there_before_runs_as_well(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('theirs')\n")
    environment = worker_environment(PathMap(()), {"PYTHONPATH": str(tmp_path)})
    done = subprocess.run(
        [sys.executable, "-c", "print('code')"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    assert done.stdout == "theirs\ncode\n"


def test_the_users_python_path_stays_behind_ours_and_ours_is_there_once() -> None:
    path_map = PathMap((("/Volumes", "/v"),))
    once = worker_environment(path_map, {"PYTHONPATH": f"/theirs{os.pathsep}/others"})
    assert once["PYTHONPATH"] == os.pathsep.join([str(SITE), "/theirs", "/others"])
    assert worker_environment(path_map, once) == once
    assert PathMap.from_json(once[PATHS]) == path_map
