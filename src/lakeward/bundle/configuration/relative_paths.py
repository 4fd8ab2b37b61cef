"""Rewrite file paths, which are relative to their YAML file, relative to the bundle's root.

Source: https://docs.databricks.com/aws/en/dev-tools/bundles/settings (paths are relative to the
configuration file that declares them).
"""

from __future__ import annotations

import posixpath
import re

from lakeward.bundle.configuration.node import Node, Path, failure, plain, show, walk, with_value
from lakeward.bundle.git_sources import is_from_git

_TASK = r"resources\.jobs\.[^.]+\.tasks\[\d+\](\.for_each_task\.task)?\."
_PATHS = re.compile(
    "|".join(
        (
            _TASK + r"notebook_task\.notebook_path",
            _TASK + r"spark_python_task\.python_file",
            _TASK + r"sql_task\.file\.path",
            _TASK + r"dbt_task\.project_directory",
            _TASK + r"libraries\[\d+\]\.(whl|jar|egg|requirements)",
            r"resources\.pipelines\.[^.]+\.libraries\[\d+\]\.(notebook\.path|file\.path|glob\.include)",
            r"resources\.pipelines\.[^.]+\.root_path",
            r"resources\.(dashboards|alerts)\.[^.]+\.file_path",
            r"resources\.apps\.[^.]+\.source_code_path",
            r"artifacts\.[^.]+\.(path|files\[\d+\]\.source)",
            r"sync\.(paths|include|exclude)\[\d+\]",
        )
    )
)
# In a list of dependencies the first characters distinguish a path from a requirement (`numpy==2`).
_DEPENDENCIES = re.compile(
    r"resources\.(jobs\.[^.]+\.environments\[\d+\]\.spec|pipelines\.[^.]+\.environment)\.dependencies\[\d+\]"
)
_DEPENDENCY = re.compile(r"(?P<option>-r |-e |--requirement |--editable )?(?P<path>\.{1,2}(/.*)?)$")
# Libraries are uploaded one by one, wherever they are; other files have to be below the bundle's folder.
_LIBRARY = re.compile(r".*\.(whl|jar|egg)", re.IGNORECASE)
_ELSEWHERE = re.compile(r"/|\$\{|[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def make_relative_to_root(tree: Node, *, confined: bool) -> Node:
    """Return `tree` with every path of a local file rewritten relative to the bundle's folder.

    Absolute paths, URLs, requirements and paths of files from Git stay. `confined`, a path of a resource that
    leaves the bundle raises BundleError(PATH_OUTSIDE), unless it is that of a library.
    """
    for path, leaf in list(walk(tree)):
        if not isinstance(leaf.value, str) or not leaf.value:
            continue
        name = show(path)
        if _DEPENDENCIES.fullmatch(name):
            found = _DEPENDENCY.fullmatch(leaf.value)
            if found is not None:
                local = f"{found['option'] or ''}./{_rewritten(leaf, found['path'], path, confined)}"
                tree = with_value(tree, path, Node(local, leaf.position))
        elif _PATHS.fullmatch(name) and not _ELSEWHERE.match(leaf.value) and not _is_in_git(tree, path):
            tree = with_value(tree, path, Node(_rewritten(leaf, leaf.value, path, confined), leaf.position))
    return tree


def _is_in_git(tree: Node, path: Path) -> bool:
    """Return whether the file of a task is in a Git repository, to which its path is relative."""
    if path[:2] != ("resources", "jobs") or "libraries" in path:
        return False
    job, spec = _node_at(tree, path[:3]), _node_at(tree, path[:-1])
    return is_from_git({"git_source": job.get("git_source")}, plain(spec))


def _node_at(tree: Node, path: Path) -> Node:
    for key in path:
        tree = tree.value[key]
    return tree


def _rewritten(leaf: Node, text: str, path: Path, confined: bool) -> str:
    folder = posixpath.dirname(leaf.position.file)
    joined = posixpath.normpath(posixpath.join(folder, text))
    is_outside = joined == ".." or joined.startswith("../")
    if confined and is_outside and path[0] == "resources" and not _LIBRARY.fullmatch(text):
        message = f"`{text}` leads out of the bundle's folder."
        next_step = (
            "Only files of the bundle are deployed. Paths are relative to the YAML file that declares them."
        )
        raise failure("PATH_OUTSIDE", leaf.position, message, next_step=next_step)
    return joined
