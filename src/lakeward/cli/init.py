"""`lakeward init`: a small bundle that validates, runs and is tested at once."""

from __future__ import annotations

from pathlib import Path

import click

from lakeward.errors import UsageError

__all__ = ["init"]


@click.command()
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@click.option("--name", help="Name of the bundle; that of its folder when left out.")
def init(folder: Path, name: str | None) -> int:
    """Write a bundle to begin with into FOLDER (default: this one).

    It has a pipeline, a job, a test, a workflow for GitHub, and what editors need to know. Nothing that is
    there already is touched.
    """
    from lakeward.cli.project_template import name_from, starter

    files = starter(name_from(name or folder.absolute().name))
    there = [path for path in files if (folder / path).exists()]
    if there:
        raise UsageError(
            "FILE_EXISTS",
            f"{folder.absolute()} has {', '.join(sorted(there)[:5])} already; nothing was written.",
            next_step="Name an empty folder: lakeward init FOLDER.",
        )
    try:
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as fresh:
                fresh.write(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError("FOLDER_NOT_WRITABLE", f"{folder} cannot be written to: {reason}.") from None
    for path in sorted(files):
        print(f"  {path}")
    change = "" if folder == Path() else f"cd {folder} && "
    print(f"Next: {change}lakeward bundle validate; lakeward run daily; pytest")
    return 0
