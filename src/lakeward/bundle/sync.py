"""Select the files that a deployment uploads to the workspace (BN-4.5).

`.gitignore` files are honoured as Git does; `sync.exclude` takes away, `sync.include` brings back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.bundle.resolved_bundle import Bundle

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# The last is our own state: tables, secrets, and the token of the local workspace.
_NEVER = (".git", ".databricks", ".lakeward")


def synced_files(bundle: Bundle) -> tuple[str, ...]:
    """Return the files below the bundle's folder that a deployment uploads, relative to it and in order.

    With `sync.paths` that lead elsewhere the names begin with `../`.
    """
    section = bundle.config.get("sync") or {}
    include, exclude = _spec(section.get("include") or ()), _spec(section.get("exclude") or ())
    found: set[str] = set()
    for start in section.get("paths") or (".",):
        folder = (bundle.root / str(start)).resolve()
        for file, ignored in _walk(folder, _ancestors(bundle.root, folder)):
            name = Path(os.path.relpath(file, bundle.root)).as_posix()
            if include.match_file(name) or not (ignored or exclude.match_file(name)):
                found.add(name)
    return tuple(sorted(found))


def _walk(folder: Path, rules: Sequence[tuple[Path, GitIgnoreSpec]]) -> Iterator[tuple[Path, bool]]:
    own = folder / ".gitignore"
    if own.is_file():
        lines = own.read_text(encoding="utf-8", errors="replace").splitlines()
        rules = [*rules, (folder, _spec(lines))]
    for path in sorted(folder.iterdir()):
        if path.name in _NEVER:
            continue
        ignored = any(_says(spec, path, base) for base, spec in rules)
        if path.is_dir() and not path.is_symlink():
            # What is below an ignored folder can still be selected by `include`, but no virtual
            # environment or cache is worth the walk.
            if ignored and (path.name.startswith(".") or (path / "pyvenv.cfg").is_file()):
                continue
            yield from ((file, ignored or below) for file, below in _walk(path, rules))
        elif path.is_file():
            yield path, ignored


def _says(spec: GitIgnoreSpec, path: Path, base: Path) -> bool:
    name = path.relative_to(base).as_posix()
    return spec.match_file(f"{name}/" if path.is_dir() else name)


def _ancestors(root: Path, folder: Path) -> list[tuple[Path, GitIgnoreSpec]]:
    if folder == root or not folder.is_relative_to(root):
        return []
    above = [
        root,
        *reversed([parent for parent in folder.parents if parent.is_relative_to(root) and parent != root]),
    ]
    files = [(each, each / ".gitignore") for each in above]
    return [
        (each, _spec(file.read_text(encoding="utf-8").splitlines())) for each, file in files if file.is_file()
    ]


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(str(pattern) for pattern in patterns)
