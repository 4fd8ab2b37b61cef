"""The use of dependency groups, extras and requirements files, by their names."""

from __future__ import annotations

import re

from lakeward.environments.model import Role

_TESTS = re.compile(r"tests?|testing|pytest|unit\w*|dev|develop|development|ci|cicd|qa|local")
_NOT_TESTS = re.compile(
    r"docs?|documentation|mkdocs|sphinx|release|publish|publishing|deploy|build|lint|linters?|linting|"
    r"format|formatting|style|pre-?commit|benchmarks?|notebooks?|jupyter|examples?|demo|demos"
)


def group_role(name: str) -> Role | None:
    """Return the role of the group `name`; None for one that is for documents, releases or style alone.

    >>> [group_role(name) for name in ("test", "unit-tests", "spark", "docs", "docs-dev")]
    [<Role.TEST: 1>, <Role.TEST: 1>, <Role.OTHER: 2>, None, <Role.TEST: 1>]
    """
    words = [word for word in re.split(r"[^a-z0-9]+", name.lower()) if word]
    if any(_TESTS.fullmatch(word) for word in words):
        return Role.TEST
    if any(_NOT_TESTS.fullmatch(word) for word in words):
        return None
    return Role.OTHER
