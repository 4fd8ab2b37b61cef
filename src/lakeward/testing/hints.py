"""Settings of a test run that can help with the error of a failed test."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.session import ansi_hint, catalog_remedy, current_settings, missing_catalog


def hints(error: BaseException) -> Iterator[tuple[str, str]]:
    """Yield title and text of each section that the report of the failed test gets."""
    text = str(error)
    settings = current_settings()
    if settings is not None and (hint := ansi_hint(text, settings)) is not None:
        yield "runtime", hint
    if (name := missing_catalog(text)) is not None:
        advice = (
            f"{catalog_remedy(name)} `lakeward test --catalog {name}` creates it for one run of the tests."
        )
        yield "catalog", advice
