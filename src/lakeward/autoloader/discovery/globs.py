"""Glob patterns of source paths and of file names, lenient or strict (AL-1.4, AL-6)."""

from __future__ import annotations

import re

from lakeward.errors import CloudFilesError

_SPECIAL = re.compile(r"[*?\[{]")


def literal_root(path: str) -> str:
    """Return the directory above the first segment with a wildcard; the path itself without wildcards."""
    match = _SPECIAL.search(path)
    if match is None:
        return path.rstrip("/") or "/"
    return path[: match.start()].rpartition("/")[0] or "/"


# What an opening bracket in a glob is not: an escaped character, or a character of a class.
_LITERAL = re.compile(r"\\.|\[[^\]]+\]", re.DOTALL)


class Globber:
    """Matches files against a path that may have wildcards.

    Lenient: `*` crosses directories, a trailing slash is ignored, and after a wildcard the last segment is a
    prefix. Strict: `*` stays within a name. `?` and `[…]` always do. Both include everything below a matched
    directory.
    """

    def __init__(self, path: str, *, strict: bool = False) -> None:
        self.root = literal_root(path)
        self.is_glob = _SPECIAL.search(path) is not None
        star = "[^/]*" if strict else ".*"
        body = _translate_glob(path.rstrip("/"), star)
        if not self.is_glob or strict:
            end = r"(?:/.*)?" if not path.endswith("/") or not self.is_glob else r"/.*"
        else:
            end = ".*"
        self._pattern = _compile_glob(body + end, path)

    def matches(self, path: str) -> bool:
        """Return whether the file `path` matches."""
        return self._pattern.fullmatch(path) is not None


def name_pattern(glob: str) -> re.Pattern[str]:
    """Return the pattern of `pathGlobFilter`, which is matched against the file name only."""
    require_closed_brackets(glob)
    return _compile_glob(_translate_glob(glob, "[^/]*"), glob)


def require_closed_brackets(glob: str) -> None:
    """Raise CF_INVALID_GLOB for a bracket or brace that is not closed, which Spark's readers refuse.

    In a path it may be a part of a folder's name. In a pattern it would match nothing, without an error.
    """
    bare = _LITERAL.sub("", glob)
    for opening, closing in ("[]", "{}"):
        if opening in bare.rpartition(closing)[2]:
            raise _invalid_glob(glob, f"{opening} is not closed")


def _invalid_glob(glob: str, reason: str) -> CloudFilesError:
    return CloudFilesError(
        "CF_INVALID_GLOB",
        f"The glob {glob!r} is invalid: {reason}.",
        next_step="Correct the brackets, or escape literal ones with a backslash.",
    )


def _compile_glob(pattern: str, glob: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise _invalid_glob(glob, error.msg) from None


def _translate_glob(glob: str, star: str) -> str:
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
