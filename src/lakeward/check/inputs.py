"""Settings, schemas and files that code reads and that nothing in the repository creates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from lakeward.check.model import Finding, Use
from lakeward.check.tables import HOLE, may_be_equal, parts_of
from lakeward.check.verdicts.paths import is_mounted, is_test
from lakeward.pipelines import OWN_SETTINGS
from lakeward.session import BUILT_IN_CATALOGS, catalog_remedy
from lakeward.session.paths import PathMap

# What every lakehouse has.
_THERE = frozenset((*BUILT_IN_CATALOGS, "default", "global_temp", "spark_catalog"))
# `/databricks-datasets` and URIs of object stores have findings of their own.
_ROOTS = {"Volumes": 4, "mnt": 2, "FileStore": 2}


def settings_needed(uses: Iterable[Use], declarations: Iterable[str]) -> Iterator[Finding]:
    """Yield a finding for each `spark.conf.get(key)` of an own key without a default.

    A key counts as set where code sets it or one of `declarations`, the texts of bundles and job files,
    contains it. Keys that begin with `spark.` are Spark's or the platform's; a pipeline sets its own.
    """
    uses = list(uses)
    known = {use.name for use in uses if use.kind == "conf" and use.detail == "set"} | {*OWN_SETTINGS}
    texts = list(declarations)
    for use in uses:
        if use.kind != "conf" or use.detail != "get" or use.name.startswith("spark.") or "{…}" in use.name:
            continue
        if use.name in known or any(use.name in text for text in texts):
            continue
        cure = (
            "Nothing in the repository sets it: give it in `configuration` of the bundle's pipeline, "
            f"or with `lakeward pipeline … --conf {use.name}=VALUE`."
        )
        yield Finding("needs_seed", f"setting {use.name}", use.place, cure)


def bundles_needed(uses: Iterable[Use], root: Path) -> Iterator[Finding]:
    """Yield a finding for each file of jobs that refers to its bundle, of which there is no databricks.yml.

    Repositories that are deployed by a script have a template of it, which the cure names.
    """
    for use in uses:
        if use.kind != "needs_bundle":
            continue
        folders = [root / part for part in Path(use.place.file).parents]
        drafts = (draft for folder in folders for draft in sorted(folder.glob("*databricks.y*ml*")))
        draft = next(drafts, None)
        cure = f"The file is part of a bundle, and no {use.name} is in a folder above it: "
        if draft is not None:
            cure += (
                f"make one of {draft.relative_to(root).as_posix()}, as the repository's own deployment does."
            )
        else:
            cure += "add one that includes it and declares what it refers to."
        yield Finding("needs_seed", f"bundle file {use.name}", use.place, cure)


def schemas_needed(
    uses: Iterable[Use], declarations: Iterable[str], there: Iterable[str]
) -> Iterator[Finding]:
    """Yield a finding for each catalog or schema that code enters or writes tables to, and nothing creates.

    Args:
        uses: What the code uses.
        declarations: Texts of bundles and other files: what they name is taken as created.
        there: Catalogs (`c`) and schemas (`c.s`) of the project's lakehouses.
    """
    uses = list(uses)
    made = _schemas_made(uses, there)
    texts = [text.lower() for text in declarations]
    for use in uses:
        if use.kind == "needs_catalog" and use.name not in _THERE:
            # The bundle names it, which creates nothing.
            if not any(may_be_equal(use.name, each) for each in made):
                yield Finding("needs_seed", f"catalog {use.name}", use.place, catalog_remedy(use.name))
            continue
        for kind, name in _containers_of(use):
            last = name.rpartition(".")[2]
            known = any(may_be_equal(last, each) for each in made) or any(last in text for text in texts)
            if known or last in _THERE:
                continue
            cure = (
                f"Nothing in the repository creates it: run `CREATE {kind.upper()} IF NOT EXISTS {name}` "
                'first, as with `lakeward sql -e "…"`.'
            )
            yield Finding("needs_seed", f"{kind} {name}", use.place, cure)


def _schemas_made(uses: Sequence[Use], there: Iterable[str]) -> set[str]:
    """Return the names of catalogs and schemas that exist or that code creates, full and alone."""
    made = {use.name.strip(".").lower() for use in uses if use.kind == "creates_schema"}
    made.update(part for name in there for part in (name.lower(), name.lower().partition(".")[0]))
    for use in uses:
        # A dataset of a pipeline or a seed makes its schema.
        if use.kind == "creates" and use.detail != "written":
            made.update(_above(use.name.lower()))
    # CREATE SCHEMA fails where its catalog is missing: it makes the schema alone.
    return made | {name.rpartition(".")[2] for name in made}


def _containers_of(use: Use) -> Iterator[tuple[str, str]]:
    """Yield (kind, name) of the catalog and the schema that a use needs; names with a hole are not judged."""
    catalog = use.name.lower().rpartition(".")[0]
    names = [("catalog", catalog)] if catalog else []
    if use.kind == "uses_schema":
        names += [
            ("schema" if catalog or not use.name.startswith(".") else "catalog", use.name.strip(".").lower())
        ]
    elif use.kind == "creates_schema":
        # CREATE SCHEMA fails where its catalog is missing.
        names = [] if is_test(use.place.file) else names
    elif use.kind == "creates" and use.detail == "written" and not is_test(use.place.file):
        *above, _ = parts_of(use.name) or ("",)
        names = [("catalog", above[0])] if len(above) > 1 else []
        names += [("schema", ".".join(above))] if above else []
    else:
        return
    yield from ((kind, name) for kind, name in names if HOLE not in name)


def _above(table: str) -> tuple[str, ...]:
    parts = table.split(".")
    return tuple(".".join(parts[:end]) for end in range(1, len(parts)))


def files_needed(uses: Iterable[Use], path_map: PathMap, homes: Collection[Path]) -> Iterator[Finding]:
    """Yield a finding for each read of files that no use writes and that are not there.

    A write meets a read of the same path, of one above and of one below it; a hole meets everything. With a
    write to a path that only a run knows, all paths that the code names elsewhere count as written.

    Args:
        uses: what the repository does.
        path_map: the map of platform paths with the project's mounts.
        homes: the folders of the project's lakehouses, one for each target.
    """
    uses = list(uses)
    written = [_parts(use.name) for use in uses if use.kind == "writes_files"]
    if any(parts is None for parts in written):
        # A path that only a run knows is made of paths that the code spells out.
        read = {(use.place.file, use.name) for use in uses if use.kind == "reads_files"}
        others = (use for use in uses if use.kind == "path" and (use.place.file, use.name) not in read)
        written += [_parts(use.name) for use in others]
    made = [parts for parts in written if parts]
    for use in uses:
        parts = _parts(use.name) if use.kind == "reads_files" else None
        if not parts or parts[0] not in _ROOTS or any(_overlap(parts, each) for each in made):
            continue
        name = "/" + "/".join(parts)
        if is_mounted(name, path_map) or any(_is_in(home, parts) for home in homes):
            continue
        root = "/" + "/".join(parts[: _ROOTS[parts[0]]])
        cure = (
            f"Nothing in the repository writes {name}: map a folder with the files, "
            f"`--mount {root}=FOLDER`, or [tool.lakeward.mounts] in pyproject.toml."
        )
        yield Finding("needs_seed", f"files in {root}", use.place, cure)


def _parts(path: str) -> tuple[str, ...] | None:
    """Return the parts of a platform path; none for other paths, None for one that only a run knows."""
    if path.startswith(HOLE):
        return None
    for prefix in ("dbfs:", "/dbfs/"):
        if path.startswith(prefix):
            path = "/" + path[len(prefix) :]
    return tuple(part for part in path.split("/") if part) if path.startswith("/") else ()


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return all(
        a == b or HOLE in a or HOLE in b or any(sign in a + b for sign in "*?[{")
        for a, b in zip(one, other, strict=False)
    )


def _is_in(home: Path, parts: tuple[str, ...]) -> bool:
    """Return whether a lakehouse has the folder of the path, up to its first wildcard."""
    fixed = []
    for part in parts:
        if any(sign in part for sign in "*?[{"):
            break
        fixed.append(part)
    below = home / "volumes" / Path(*fixed[1:]) if parts[0] == "Volumes" else home / "dbfs" / Path(*fixed)
    return len(fixed) > 1 and below.exists()
