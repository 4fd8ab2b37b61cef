"""The pytest plugins that a repository's own options need, where no dependency names them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lakeward.environments.model import Wanted

__all__ = ["PLUGINS", "missing_plugins"]

PLUGINS: Mapping[str, str] = {
    r"--(no-)?cov(-.*)?": "pytest-cov",
    r"-n(\d+|auto|logical)?|--numprocesses|--dist": "pytest-xdist",
    r"--timeout(-.*)?": "pytest-timeout",
    r"--asyncio-mode": "pytest-asyncio",
    r"--reruns(-.*)?": "pytest-rerunfailures",
    r"--randomly-.*": "pytest-randomly",
    r"--html|--self-contained-html": "pytest-html",
}
"""What an option looks like, and the plugin that brings it."""


def missing_plugins(
    settings: Mapping[str, Any], arguments: Sequence[str], wanted: Iterable[Wanted]
) -> tuple[Wanted, ...]:
    """Requirements of the plugins whose options stand in `addopts` or on the command line.

    Without them pytest would refuse its own configuration: in many repositories only the CI installs them.
    """
    named = {canonicalize_name(each.requirement.name) for each in wanted if each.requirement}
    found: dict[str, Wanted] = {}
    for origin, words in (("addopts", _words(settings.get("addopts"))), ("the command line", arguments)):
        for word in words:
            option = word.split("=")[0]
            for pattern, plugin in PLUGINS.items():
                if re.fullmatch(pattern, option) and canonicalize_name(plugin) not in named:
                    found.setdefault(
                        plugin, Wanted(plugin, f"{option} of {origin}", requirement=Requirement(plugin))
                    )
    return tuple(found.values())


def _words(addopts: object) -> list[str]:
    if not isinstance(addopts, str):
        return [str(each) for each in addopts] if isinstance(addopts, list) else []
    try:
        return shlex.split(addopts)
    except ValueError:
        # pytest will say what is wrong with it.
        return []
