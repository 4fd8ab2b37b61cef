"""`[tool.uv.sources]`: where uv takes a package from, said in the form that every installer reads.

Source: https://docs.astral.sh/uv/concepts/projects/dependencies/#dependency-sources
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lakeward.environments.model import Declarations, DeclaredRequirement
from lakeward.environments.sources.reading import indexes, read_toml


def apply_uv_sources(found: Declarations, content: Mapping[str, Any], root: Path) -> Declarations:
    """Return `found` with the sources of uv: a folder, a repository or an address of a package."""
    settings = (content.get("tool") or {}).get("uv") or {}
    sources: dict[str, Any] = {
        canonicalize_name(name): source for name, source in (settings.get("sources") or {}).items()
    }
    members = _members(settings, root) if any("workspace" in str(each) for each in sources.values()) else {}
    placed = [_placed(each, sources, members, root) for each in found.wanted]
    return replace(
        found, wanted=tuple(placed), index_options=(*found.index_options, *indexes(settings.get("index")))
    )


def _placed(
    each: DeclaredRequirement, sources: Mapping[str, Any], members: Mapping[str, Path], root: Path
) -> DeclaredRequirement:
    if each.requirement is None:
        return each
    name = canonicalize_name(each.requirement.name)
    source = sources.get(name)
    if isinstance(source, list):
        # Several, each for a platform: the first that is for all, or the first of all.
        source = next((one for one in source if "marker" not in one), source[0] if source else None)
    if not isinstance(source, dict):
        return each
    folder = root / source["path"] if "path" in source else None
    if source.get("workspace") and name in members:
        folder = members[name]
    if folder is not None:
        return replace(
            each, text=f"-e {folder.resolve()}" if folder.is_dir() else str(folder), requirement=None
        )
    url = git_url(source) if "git" in source else source.get("url")
    if not url:
        return each
    extras = f"[{','.join(sorted(each.requirement.extras))}]" if each.requirement.extras else ""
    text = f"{each.requirement.name}{extras} @ {url}"
    return replace(each, text=text, requirement=Requirement(text))


def git_url(source: Mapping[str, Any]) -> str:
    """Return a Git source as an installer reads it: `git+https://host/repository@tag#subdirectory=a`."""
    url = str(source["git"])
    if not url.startswith("git+"):
        # git@host:owner/name is how SSH is written for people.
        if "://" not in url:
            url = "ssh://" + url.replace(":", "/", 1)
        url = f"git+{url}"
    revision = source.get("rev") or source.get("tag") or source.get("branch")
    folder = source.get("subdirectory")
    return url + (f"@{revision}" if revision else "") + (f"#subdirectory={folder}" if folder else "")


def _members(settings: Mapping[str, Any], root: Path) -> dict[str, Path]:
    """Return the packages of the workspace that `root` is the head or a member of, by name."""
    heads = [(root, settings), *_head_above(root)]
    patterns = [
        (head, pattern) for head, uv in heads for pattern in (uv.get("workspace") or {}).get("members") or ()
    ]
    found: dict[str, Path] = {}
    for folder in [folder for head, pattern in patterns for folder in sorted(head.glob(pattern))]:
        name = (read_toml(folder / "pyproject.toml").get("project") or {}).get("name")
        if name:
            found[canonicalize_name(name)] = folder
    return found


def _head_above(root: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the folder above `root`, in the same repository, that declares a workspace, with its settings."""
    for folder in root.parents:
        settings = (read_toml(folder / "pyproject.toml").get("tool") or {}).get("uv") or {}
        if "workspace" in settings:
            yield folder, settings
            return
        if (folder / ".git").exists():
            return
