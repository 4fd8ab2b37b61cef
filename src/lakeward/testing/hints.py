"""Settings of a test run that can help with the error of a failed test."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lakeward.session import ansi_hint, current_settings

_NO_CATALOG = re.compile(r"\[(?:NO_SUCH_CATALOG_EXCEPTION|CATALOG_NOT_FOUND)\][^`']*[`']([^`']+)[`']")


def hints(error: BaseException) -> Iterator[tuple[str, str]]:
    """Yield title and text of each section that the report of the failed test gets."""
    text = str(error)
    settings = current_settings()
    if settings is not None and (hint := ansi_hint(text, settings)) is not None:
        yield "runtime", hint
    if (found := _NO_CATALOG.search(text)) is not None:
        name = found.group(1)
        advice = (
            f"If {name} is a catalog of your workspace: `lakeward test --catalog {name}` creates it before "
            f'the tests, and so does catalogs = ["{name}"] under [tool.lakeward] in pyproject.toml.'
        )
        yield "catalog", advice
