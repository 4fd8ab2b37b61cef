"""Auto Loader's options, by its own table."""

from __future__ import annotations

from lakeward.autoloader import READABLE_FORMATS, find_option
from lakeward.check.model import Fact, Use
from lakeward.check.verdicts.words import SERVED

_PREFIX = "cloudfiles."


def option(use: Use) -> Fact | None:
    """Return the verdict on one option and, if known, its value; None for what Auto Loader ignores."""
    row = find_option(use.name)
    if row is None:
        if not use.name.lower().startswith(_PREFIX) or "{…}" in use.name:
            return None
        cure = "Check the spelling: an unknown key fails with CF_UNKNOWN_OPTION_KEYS_ERROR, there as here."
        return Fact(f"option {use.name}", "refused", cure)
    name = f"option {row.key}"
    if (
        row.key == "cloudFiles.format"
        and use.detail is not None
        and use.detail.lower() not in READABLE_FORMATS
    ):
        known = ", ".join(READABLE_FORMATS)
        return Fact(f"{name}={use.detail}", "refused", f"Formats that can be read: {known}.")
    if row.verdict == "accepted":
        return Fact(name, "differs", f"It has no effect here: {row.note}.")
    return Fact(name, "runs_with_lakeward", SERVED)
