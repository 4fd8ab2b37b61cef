"""`lakeward init`: a small bundle that validates, runs and is tested at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import click

from lakeward.cli.options import GivenPath
from lakeward.errors import UsageError


@click.command(short_help="Write a new bundle: a pipeline, a job and a test.")
@click.argument("folder", default=".", type=GivenPath())
@click.option("--name", help="Name of the bundle; that of its folder when left out.")
@click.option("--editor", is_flag=True, help="Write what editors read alone, into a project that exists.")
def init(folder: Path, name: str | None, editor: bool) -> int:
    """Write a bundle to begin with into FOLDER (default: this one).

    It has a pipeline, a job, a test, a workflow for GitHub, and what editors need to know. Nothing that is
    there already is touched.

    With --editor it writes or renews the declarations of `spark`, `dbutils`, `display`, `dlt` and the like,
    and touches no file of yours.
    """
    if editor:
        return write_editor_files(folder)
    from lakeward.cli.project_template import bundle_name, template_files

    files = template_files(bundle_name(name or folder.absolute().name))
    there = [path for path in files if (folder / path).exists()]
    _refuse_existing(folder, _not_generated(folder, there), "Name an empty folder")
    # What `--editor` wrote before is part of the bundle.
    _write(folder, {path: text for path, text in files.items() if path not in there}, mode="x")
    change = "" if folder == Path() else f"cd {folder} && "
    print(f"Next: {change}lakeward bundle validate; lakeward run daily; lakeward test")
    return 0


def write_editor_files(folder: Path) -> int:
    """Write what editors read, over earlier versions of it. Raises UsageError for other files there."""
    from lakeward.cli.type_stubs import editor_files

    files = editor_files()
    there = [path for path in files if (folder / path).exists()]
    _refuse_existing(
        folder,
        _not_generated(folder, there),
        "Move them away, or add the declarations by hand; an empty folder gets all",
    )
    _write(folder, files, mode="w")
    return 0


def _not_generated(folder: Path, paths: list[str]) -> list[str]:
    """Return the files that lakeward did not write for editors."""
    from lakeward.cli.type_stubs import is_generated

    files = {path: folder / path for path in paths}
    return [
        path
        for path, file in files.items()
        if not file.is_file() or not is_generated(file.read_text("utf-8", "replace"))
    ]


def _refuse_existing(folder: Path, there: list[str], cure: str) -> None:
    if there:
        raise UsageError(
            "FILE_EXISTS",
            f"{folder.absolute()} has {', '.join(sorted(there)[:5])} already; nothing was written.",
            next_step=f"{cure}: lakeward init FOLDER.",
        )


def _write(folder: Path, files: Mapping[str, str], *, mode: Literal["x", "w"]) -> None:
    """Write files and print their names. Raises UsageError(FOLDER_NOT_WRITABLE)."""
    try:
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open(mode, encoding="utf-8") as fresh:
                fresh.write(text)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(
            "FOLDER_NOT_WRITABLE",
            f"{folder} cannot be written to: a file is in its place.",
            next_step="Name another folder: lakeward init FOLDER.",
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            "FOLDER_NOT_WRITABLE",
            f"{folder} cannot be written to: {reason}.",
            next_step="Name another folder: lakeward init FOLDER.",
        ) from None
    for path in sorted(files):
        print(f"  {path}")
