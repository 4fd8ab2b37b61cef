"""Programs that the code starts find the files that their arguments name by paths of the platform."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lakeward.session import path_redirection
from lakeward.session.path_redirection.programs import translate_arguments, translate_command
from lakeward.session.path_redirection.translator import PathTranslator
from lakeward.session.paths import PathMap

FILES = (
    "/Volumes/c/s/v/a.txt",
    "/Volumes/c/s/v/two words/ä '\"$x.txt",
    "/Volumes/c/s/mounted/a.txt",
    "/dbfs/tmp/a.txt",
    "/Workspace/Users/a@b.c/a.txt",
    "/dbfs//tmp/../tmp/a.txt",
)


@pytest.fixture
def mapped(tmp_path: Path) -> Iterator[Path]:
    """Folders with a blank, a quote and a dollar sign, so that wrong quoting shows."""
    base = tmp_path / "it's $a \"folder"
    before = path_redirection.installed_map()
    path_redirection.install(
        PathMap(
            (
                ("/Volumes", f"{base}/volumes"),
                ("/Volumes/c/s/mounted", f"{base}/mounted"),
                ("/dbfs", f"{base}/dbfs"),
                ("/dbfs/Volumes", f"{base}/volumes"),
                ("/Workspace", f"{base}/workspace"),
            )
        )
    )
    (base / "volumes/c/s/v").mkdir(parents=True)
    for file in FILES:
        place = Path(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(os.path.normpath(file))
    try:
        yield tmp_path
    finally:
        if before is None:
            path_redirection.uninstall()
        else:
            path_redirection.install(before)


def _exec(file: str) -> str:
    """Read with os.posix_spawn, as libraries do that start programs without subprocess."""
    read, write = os.pipe()
    child = os.posix_spawn(
        "/bin/cat", ["cat", file], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)]
    )
    os.close(write)
    with open(read, encoding="utf-8") as output:
        text = output.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return text


async def _async(*arguments: str) -> str:
    child = await asyncio.create_subprocess_exec(*arguments, stdout=subprocess.PIPE)
    return (await child.communicate())[0].decode()


def _output(arguments: object, **settings: object) -> str:
    return str(subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True, **settings).stdout)  # type: ignore[call-overload]


def _popen(command: str) -> str:
    with os.popen(command) as output:
        return output.read()


def _double(file: str) -> str:
    return '"' + "".join("\\" + c if c in '"$`\\' else c for c in file) + '"'


STARTS: dict[str, Callable[[str], str]] = {
    "list": lambda file: _output(["cat", file]),
    "tuple": lambda file: _output(("cat", file)),
    "path": lambda file: _output([Path("/bin/cat"), Path(file)]),
    "bytes": lambda file: _output([b"cat", os.fsencode(file)]),
    "keyword": lambda file: subprocess.check_output(args=["cat", file], text=True),
    "option": lambda file: _output(["dd", f"if={file}", "status=none"]),
    "shell, quoted": lambda file: _output(f"cat {shlex.quote(file)}", shell=True),
    "shell, double quotes": lambda file: _output(f"cat {_double(file)} | cat", shell=True),
    "shell, redirection": lambda file: _output(f"cat <{shlex.quote(file)}", shell=True),
    "shell, list": lambda file: _output([f"cat {shlex.quote(file)}"], shell=True),
    "bash -c": lambda file: _output(["bash", "-ec", f"cat {shlex.quote(file)}"]),
    "os.popen": lambda file: _popen(f"cat {shlex.quote(file)}"),
    "posix_spawn": _exec,
    "asyncio": lambda file: asyncio.run(_async("cat", file)),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("file", FILES)
def test_a_program_reads_the_file_that_its_argument_names(mapped: Path, start: str, file: str) -> None:
    assert STARTS[start](file) == os.path.normpath(file)


def test_globs_and_working_folders_of_a_shell_are_those_of_the_volume(mapped: Path) -> None:
    assert _output("cat /Volumes/c/s/v/*.txt", shell=True) == "/Volumes/c/s/v/a.txt"
    assert _output("cd /Volumes/c/s/v && cat a.txt", shell=True) == "/Volumes/c/s/v/a.txt"
    assert os.system("cp /Volumes/c/s/v/a.txt /dbfs/tmp/b.txt") == 0
    assert Path("/dbfs/tmp/b.txt").read_text() == "/Volumes/c/s/v/a.txt"


MAP = PathTranslator(
    PathMap((("/Volumes", "/l/v"), ("/dbfs", "/l/d"), ("/Volumes/disk/project", "/Volumes/disk/project")))
)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls /Volumes", "ls /l/v"),
        ("ls /Volumes/;ls '/dbfs'", "ls /l/v/;ls '/l/d'"),
        ("X=/Volumes/a:/dbfs/b cmd", "X=/l/v/a:/l/d/b cmd"),
        ("cp {/Volumes/a,/dbfs/b} .", "cp {/l/v/a,/l/d/b} ."),
        ("echo $(cat </dbfs/x)", "echo $(cat </l/d/x)"),
        # Words that only contain the text of a prefix stay.
        ("ls /Volumes2 ./Volumes $HOME/Volumes s3://Volumes/x ~/dbfs a/dbfs/x /dbfs-old", None),
        ("fs ls dbfs:/Volumes/x file:/dbfs/x ${ROOT}/Volumes", None),
        # A folder of the machine below a prefix is a folder of the machine.
        ("ls /Volumes/disk/project/x", None),
        ("", None),
    ],
)
def test_only_words_that_begin_with_a_prefix_are_translated(command: str, expected: str | None) -> None:
    assert translate_command(MAP, command) == (command if expected is None else expected)


@pytest.mark.parametrize(
    "arguments",
    [
        ["databricks", "fs", "ls", "/Volumes/x"],
        ["/usr/bin/lakeward", "--param", "a=/dbfs/x"],
        ["git", "commit", "-m", "see /Volumes/x"],
        ["echo", "/Volumes2", 3, None],
        [],
        7,
        "cat",
        ["bash", "/x"],
    ],
)
def test_other_arguments_are_passed_as_they_are(arguments: object) -> None:
    assert translate_arguments(MAP, arguments) == arguments


NAMES_IN_SHELLS = {
    "literal": ("", "/Volumes/C/S/V/A.txt"),
    "literal in quotes": ("", "'/Volumes/C/S/V/A.txt'"),
    "literal in double quotes": ("", '"/Volumes/C/s/V/A.txt"'),
    "below /dbfs": ("", "/dbfs/Volumes/C/S/V/A.txt"),
    "a volume that is mounted": ("", "/Volumes/C/S/Mounted/A.txt"),
    "assigned": ("P=/Volumes/C/S/V", '"$P/A.txt"'),
    "variables": ("C=C S=S V=V", "/Volumes/$C/$S/$V/A.txt"),
    "variables in braces": ("C=C S=S", "/Volumes/${C}/${S}/V/A.txt"),
    "variables in double quotes": ("C=C S=S", '"/Volumes/$C/$S/V/A.txt"'),
    "a part of a name": ("N=C", "/Volumes/${N}/s/V/A.txt"),
    "two names in one": ("B=C/S", "/Volumes/$B/V/A.txt"),
    "a path in one": ("B=C/S/V/A.txt", "/Volumes/$B"),
    "a variable after the names": ("F=A.txt", "/Volumes/C/S/V/$F"),
    "lower case already": ("C=c", "/Volumes/$C/s/v/A.txt"),
}


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("case", NAMES_IN_SHELLS)
def test_names_of_volumes_in_shells_do_not_depend_on_case(mapped: Path, case: str, shell: str) -> None:
    """The rest of a path does: it has an upper case letter."""
    for folder in ("/Volumes/c/s/v", "/Volumes/c/s/mounted"):
        Path(folder, "A.txt").write_text("found")
    before, file = NAMES_IN_SHELLS[case]
    assert _output([shell, "-c", f"{before}\ncat {file}"]) == "found"
    assert _output([shell, "-c", f"{before}\necho x > {file}; cat <{file}"]) == "x\n"
