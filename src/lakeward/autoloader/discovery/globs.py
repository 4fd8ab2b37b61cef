"""Globs in `load(path)`: the lenient and the strict reading (auto-loader.md §7.4)."""

from __future__ import annotations

import re

from lakeward.errors import CloudFilesError

__all__ = ["Globber", "literal_root", "name_pattern"]

_SPECIAL = re.compile(r"[*?\[{]")


def literal_root(path: str) -> str:
    """The folder above the first segment that holds a wildcard; the path itself where there is none."""
    match = _SPECIAL.search(path)
    if match is None:
        return path.rstrip("/") or "/"
    return path[: match.start()].rpartition("/")[0] or "/"


class Globber:
    """Whether a file lies under a path that may hold wildcards.

    Lenient: `*` crosses folders, a slash at the end is ignored, and behind a wildcard the last segment is a
    prefix. Strict: `*` stays within a name; `?` and `[…]` always do. Both take a matched folder with all that
    is in it.
    """

    def __init__(self, path: str, *, strict: bool = False) -> None:
        self.root = literal_root(path)
        self.is_glob = _SPECIAL.search(path) is not None
        star = "[^/]*" if strict else ".*"
        body = _translate(path.rstrip("/"), star)
        if not self.is_glob or strict:
            end = r"(?:/.*)?" if not path.endswith("/") or not self.is_glob else r"/.*"
        else:
            end = ".*"
        self._pattern = _compiled(body + end, path)

    def matches(self, path: str) -> bool:
        """Whether `path`, a file, is meant."""
        return self._pattern.fullmatch(path) is not None


def name_pattern(glob: str) -> re.Pattern[str]:
    """The pattern of `pathGlobFilter`, which sees the file's name alone."""
    return _compiled(_translate(glob, "[^/]*"), glob)


def _compiled(pattern: str, glob: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise CloudFilesError(
            "CF_INVALID_GLOB",
            f"The glob {glob!r} cannot be read: {error.msg}.",
            next_step="Correct the brackets, or put a backslash before those that are part of a name.",
        ) from None


def _translate(glob: str, star: str) -> str:
    out, depth, i = [], 0, 0
    while i < len(glob):
        char = glob[i]
        i += 1
        if char == "*":
            while i < len(glob) and glob[i] == "*":
                i += 1
            out.append(star)
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := glob.find("]", i + 1)) > 0:
            inside = glob[i:end].replace("\\", "\\\\").replace("[", "\\[")
            out.append("(?!/)[" + ("^" + inside[1:] if inside[0] in "^!" else inside) + "]")
            i = end + 1
        elif char == "{" and "}" in glob[i:]:
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "\\" and i < len(glob):
            out.append(re.escape(glob[i]))
            i += 1
        else:
            out.append(re.escape(char))
    return "".join(out)
