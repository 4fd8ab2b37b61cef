"""Isolated environments for the tests of repositories that know nothing of lakeward.

`prepare` gives the one of a folder, made and cached when it is not there; `clash` tells of a package in this
environment that cannot stand beside lakeward, and `cure` what to do. `STAND_INS` are the packages that
lakeward stands in for, and `as_markdown` is the documentation's table of them; `pinned_by` tells the runtime
that a repository's pins on them choose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.environments.clash import CLASH, clash, cure
from lakeward.on_demand import from_modules

if TYPE_CHECKING:
    from lakeward.environments.document import as_markdown
    from lakeward.environments.preparing import Environment, NoTests, prepare
    from lakeward.environments.runtime import pinned_by
    from lakeward.environments.stand_ins import STAND_INS

__all__ = [
    "CLASH",
    "STAND_INS",
    "Environment",
    "NoTests",
    "as_markdown",
    "clash",
    "cure",
    "pinned_by",
    "prepare",
]

# Every command asks for `clash`, and must not wait for the rest.
__getattr__ = from_modules(
    __name__,
    {
        "document": ["as_markdown"],
        "preparing": ["Environment", "NoTests", "prepare"],
        "runtime": ["pinned_by"],
        "stand_ins": ["STAND_INS"],
    },
)
