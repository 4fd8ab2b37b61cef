"""With `bind-mounts`, native libraries and programs open the paths of the platform."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mount namespaces are Linux's")

PROGRAM = """
import os, sys
from pathlib import Path
from lakeward.errors import ConfigurationError
from lakeward.session import path_redirection
from lakeward.session.paths import PathMap

base = sys.argv[1]
def use(**folders):
    entries = tuple((prefix.replace("_", "/"), f"{base}/{name}") for prefix, name in folders.items())
    path_redirection.install(PathMap(entries))
try:
    exec(sys.stdin.read())
except ConfigurationError as error:
    print(error)
"""


def run(code: str, base: Path, *, within: Sequence[str] = (), bind: str = "1") -> str:
    """Run `code` in a process of its own; return what it and its programs print."""
    environment = {**os.environ, "LAKEWARD_BIND_MOUNTS": bind}
    done = subprocess.run(
        [*within, sys.executable, "-c", PROGRAM, str(base)],
        input=code,
        env=environment,
        cwd=base,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def needs(*command: str) -> None:
    """Skip where the machine does not let this test make its surroundings."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")
    done = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this machine does not allow it: {done.stderr.strip()}")


UNPRIVILEGED = ("setpriv", "--bounding-set=-sys_admin")
# In a user namespace in which no further one may be made.
FORBIDDEN = (
    *("unshare", "-Ur", "sh", "-c"),
    'echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-sys_admin "$0" "$@"',
)


@pytest.fixture(params=[(), UNPRIVILEGED], ids=["as it is", "without rights"])
def within(request: pytest.FixtureRequest) -> tuple[str, ...]:
    needs(*request.param, "unshare", *(("-m",) if os.geteuid() == 0 and not request.param else ("-Um",)))
    return tuple(request.param)


def test_programs_and_native_libraries_open_mapped_paths(tmp_path: Path, within: tuple[str, ...]) -> None:
    code = """
use(_Volumes="a folder/volumes", _Volumes_c_s_m="mounted")
# The program computes the path, so no argument could be translated.
os.system("p=/Volu; mkdir -p ${p}mes/c/s/v && echo 1,2 >${p}mes/c/s/v/a.csv")
import duckdb
print(duckdb.sql("select * from '/Volumes/c/s/v/*.csv'").fetchall())
duckdb.sql("copy (select 7 as x) to '/Volumes/c/s/m/b.parquet'")
print(sorted(os.listdir("/Volumes/c/s/m")), os.getcwd() == base)
print(Path("/Volumes/c/s/v/a.csv").read_text().strip())
"""
    assert run(code, tmp_path, within=within) == "[(1, 2)]\n['b.parquet'] True\n1,2\n"
    assert (tmp_path / "a folder/volumes/c/s/v/a.csv").read_text() == "1,2\n"
    assert (tmp_path / "mounted/b.parquet").is_file()


def test_a_later_map_changes_its_folders_and_keeps_others(tmp_path: Path, within: tuple[str, ...]) -> None:
    code = """
for name in ("one", "two", "one"):
    use(_Volumes=name)
    os.system(f"p=/Volu; echo {name} >>${{p}}mes/a.txt")
use(_dbfs="dbfs")
os.system("p=/Volu; d=/db; cat ${p}mes/a.txt; ls -d ${d}fs; ls -A / | grep -c former")
"""
    assert run(code, tmp_path, within=within) == "one\none\n/dbfs\n0\n"
    assert (tmp_path / "two/a.txt").read_text() == "two\n"


def test_nothing_remains_outside_of_the_process(tmp_path: Path, within: tuple[str, ...]) -> None:
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
    code = 'use(_Volumes="volumes")\nprint(os.path.ismount("/Volumes"), flush=True)'
    environment = {"TMPDIR": str(tmp_path)}
    folders = set(tmp_path.iterdir())
    assert run(code, tmp_path, within=("env", *(f"{k}={v}" for k, v in environment.items()), *within))
    assert {each.name for each in set(tmp_path.iterdir()) - folders} == {"volumes"}
    assert Path("/proc/self/mounts").read_text(encoding="utf-8") == mounts


def test_no_mount_reaches_others_where_mounts_are_shared(tmp_path: Path) -> None:
    """The root of most machines is a shared mount, which passes mounts on to other namespaces."""
    shared = ("unshare", "-Urm", "--propagation", "shared")
    needs(*shared)
    script = 'n=$(wc -l </proc/self/mounts); "$@"; test $n = $(wc -l </proc/self/mounts) || echo shared'
    code = 'use(_Volumes="volumes")\nos.system("p=/Volu; ls -d ${p}mes")'
    assert run(code, tmp_path, within=(*shared, "sh", "-c", script, "sh")) == "/Volumes\n"


def test_without_the_setting_programs_do_not_see_computed_paths(tmp_path: Path) -> None:
    code = 'use(_Volumes="volumes")\nos.system("p=/Volu; test -e ${p}mes || echo none")'
    assert run(code, tmp_path, bind="0") == "none\n"


def test_a_system_that_does_not_allow_it_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    needs(*FORBIDDEN)
    printed = run('use(_Volumes="volumes")', tmp_path, within=FORBIDDEN)
    assert printed.startswith(
        "[BIND_MOUNTS_UNAVAILABLE] The system does not allow bind mounts for this process: "
    )
    assert "Remove `bind-mounts` from [tool.lakeward]" in printed
    assert [each.name for each in tmp_path.iterdir()] == []


@pytest.mark.parametrize("value", ["1", '"yes"', "[]"])
def test_the_setting_is_true_or_false(tmp_path: Path, value: str) -> None:
    from lakeward.errors import ConfigurationError
    from lakeward.session.settings import Settings

    (tmp_path / "pyproject.toml").write_text(f"[tool.lakeward]\nbind-mounts = {value}\n")
    with pytest.raises(ConfigurationError, match=r"PYPROJECT_INVALID.*`bind-mounts`.*true or false"):
        Settings.here(tmp_path)
