"""Copy lakeward's installed dependencies into another environment, without a network.

Files are hard links where the disk allows it, as uv makes them, so that Spark's 500 MB take no room twice.
"""

from __future__ import annotations

import csv
import errno
import io
import os
import shutil
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path, PurePosixPath

from lakeward.environments.conflict import conflicting_connect_version
from lakeward.environments.installation import Installation, installed_closure
from lakeward.environments.model import Say

_ROOTS = ("lakeward", "lakeward-jars", "pytest", "pip")
_LINKS_REFUSED = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EACCES)


def copy_installation(own: Installation, site: Path, *, same_python: bool, say: Say) -> list[str]:
    """Put lakeward and what it needs into the folder `site`; returns what was put there.

    Compiled packages only go to the `same_python`; a pyspark that Databricks Connect has overwritten
    stays where it is. What does not come is for the installer to get.
    """
    put: list[str] = []
    for distribution in installed_closure(_ROOTS):
        name = str(distribution.metadata["Name"])
        spoilt = name == "pyspark" and conflicting_connect_version() is not None
        if name == "lakeward" and own.linked:
            _link_checkout(own, site)
        elif spoilt or not (same_python or _runs_anywhere(distribution)) or not _put(distribution, site):
            continue
        put.append(name)
        say(f"{name} {distribution.version}")
    return put


def _runs_anywhere(distribution: metadata.Distribution) -> bool:
    """Return whether a package is for every Python 3 of this platform."""
    tags = [
        line.partition(":")[2].strip()
        for line in (distribution.read_text("WHEEL") or "").splitlines()
        if line.startswith("Tag:")
    ]
    return bool(tags) and all("py3" in tag.split("-")[0] and tag.split("-")[1] == "none" for tag in tags)


def _put(distribution: metadata.Distribution, site: Path) -> bool:
    """Link the files of one package; False when it is not there as a wheel puts it."""
    if '"editable": true' in (distribution.read_text("direct_url.json") or ""):
        return False
    held = [file for file in distribution.files or () if _inside(file)]
    record = next((file for file in held if file.name == "RECORD"), None)
    home = str(distribution.locate_file(""))
    # Thousands of files: plain strings are many times faster here than paths.
    names = [str(file) for file in held if file != record]
    there = [name for name in names if os.path.exists(f"{home}/{name}")]  # noqa: PTH110
    if record is None or any(not name.endswith(".pyc") for name in set(names) - set(there)):
        return False
    for folder in {os.path.dirname(name) for name in there}:  # noqa: PTH120
        (site / folder).mkdir(parents=True, exist_ok=True)
    for name in there:
        _link(f"{home}/{name}", f"{site}/{name}")
    _write_record(site / str(record), [[name, "", ""] for name in there])
    return True


def _inside(file: PurePosixPath) -> bool:
    # Scripts stand outside, and name the Python that they were made for.
    return not file.is_absolute() and ".." not in file.parts


def _link_checkout(own: Installation, site: Path) -> None:
    """lakeward as a link to the folder that is being worked on."""
    (site / "lakeward").symlink_to(own.package.resolve())
    folder = f"lakeward-{own.version}.dist-info"
    (site / folder).mkdir()
    lines = []
    for name in ("METADATA", "entry_points.txt", "WHEEL", "INSTALLER"):
        text = own.distribution.read_text(name)
        if text is not None:
            (site / folder / name).write_text(text, encoding="utf-8")
            lines.append([f"{folder}/{name}", "", ""])
    _write_record(site / folder / "RECORD", lines)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except FileExistsError:
        # Namespace packages share files such as an empty __init__.py.
        return
    except OSError as error:
        if error.errno not in _LINKS_REFUSED:
            raise
        # With its times: Python compares them with those in the compiled file.
        shutil.copy2(source, target)


def _write_record(record: Path, lines: Iterable[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*lines, [f"{record.parent.name}/RECORD", "", ""]])
    record.write_text(text.getvalue(), encoding="utf-8")
