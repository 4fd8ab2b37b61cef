"""The section of a failed test, or of a file that cannot be imported, with what explains its error."""

from __future__ import annotations

from pathlib import Path

import pytest


def add_hints(
    report: pytest.TestReport | pytest.CollectReport, error: BaseException, file: Path, root: Path
) -> None:
    """Add a section with the hints for an error to a report, if there are any.

    Args:
        report: The report of the test or file; one that did not fail is left alone.
        error: Why it failed.
        file: The file of the test.
        root: The folder that pytest runs in.
    """
    if not report.failed:
        return
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001
        # An error of Java has its text in the JVM, which may be gone.
        return
    hints = _hints(text) if (hint := _module_hint(error, file, root)) is None else [hint]
    if hints:
        report.sections.append(("lakeward", "\n".join(hints)))


def _hints(text: str) -> list[str]:
    from lakeward.hints import hints_of
    from lakeward.session import current_settings, default_settings, missing_catalog

    hints = hints_of(text, current_settings() or default_settings())
    if (name := missing_catalog(text)) is not None:
        hints.append(f"`lakeward test --catalog {name}` creates the catalog for one run of the tests.")
    return hints


def _module_hint(error: BaseException, file: Path, root: Path) -> str | None:
    """Return where a test runs whose module is in a folder above it; None for other errors.

    A repository of several projects has the tests of each, which find its modules from its own folder.
    """
    if not isinstance(error, ModuleNotFoundError) or not error.name or not file.is_relative_to(root):
        return None
    name = error.name.partition(".")[0]
    between = file.relative_to(root).parents
    for folder in (root / each for each in between if each != Path()):
        if (folder / name).is_dir() or (folder / f"{name}.py").is_file():
            place = folder.relative_to(root).as_posix()
            return f"`{name}` is in the folder {place}: run its tests there, `cd {place} && lakeward test`."
    return None
