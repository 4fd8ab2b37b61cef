"""What a deployment uploads: Git is the judge of what is ignored."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from lakeward.bundle import Bundle, synced_files

FILES = {
    ".gitignore": "*.log\nbuild/\n!keep.log\n/top.txt\n",
    "a.py": "",
    "x.log": "",
    "keep.log": "",
    "top.txt": "",
    "sub/top.txt": "",
    "sub/.gitignore": "*.tmp\n!important.tmp\n",
    "sub/a.tmp": "",
    "sub/important.tmp": "",
    "build/out.py": "",
    "tests/test_a.py": "",
    ".venv/pyvenv.cfg": "",
}


def made(bundle_of: Callable[..., Bundle], sync: str = "", files: Mapping[str, str] = FILES) -> Bundle:
    return bundle_of(f"bundle: {{name: b}}\n{sync}", files=files)


def test_the_same_files_as_git_would_take(bundle_of: Callable[..., Bundle], tmp_path: Path) -> None:
    bundle = made(bundle_of, files={name: text for name, text in FILES.items() if name != ".venv/pyvenv.cfg"})
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    listed = subprocess.run(
        ["git", "-C", str(tmp_path), "ls-files", "--cached", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert list(synced_files(bundle)) == sorted(listed.stdout.split())


def test_exclude_takes_away_and_include_brings_back_even_what_is_ignored(
    bundle_of: Callable[..., Bundle],
) -> None:
    sync = "sync: {exclude: [tests/**, a.py], include: [build/*, tests/test_a.py]}\n"
    files = synced_files(made(bundle_of, sync))
    assert "a.py" not in files
    assert {"build/out.py", "tests/test_a.py"} <= set(files)


def test_paths_name_the_folders_that_are_taken(bundle_of: Callable[..., Bundle]) -> None:
    assert synced_files(made(bundle_of, "sync: {paths: [sub]}\n")) == (
        "sub/.gitignore",
        "sub/important.tmp",
        "sub/top.txt",
    )
