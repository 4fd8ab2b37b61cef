"""The verdict on each use, from the tables that the packages declare.

The modules here translate the tables of packages into facts and add nothing to them. A new table becomes
known by one more entry in `KNOWLEDGE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from lakeward.check.model import Fact, Finding, Kind, Use
from lakeward.check.verdicts import api_tables, modules, packages, paths, session

__all__ = ["KNOWLEDGE", "Judge", "judge_use", "knowledge_with", "map_with"]

map_with = paths.map_with

Judge = Callable[[Use], "Fact | None"]

KNOWLEDGE: Mapping[Kind, Judge] = {
    "builtin": modules.builtin,
    "conf": session.judge_setting,
    "dbutils": api_tables.dbutils_function,
    "field": api_tables.bundle_field,
    "format": session.data_format,
    "magic": modules.magic,
    "module": modules.module,
    "option": api_tables.option,
    "parameter": api_tables.pipeline_parameter,
    "path": paths.path,
    "pipeline": api_tables.pipeline_function,
    "requirement": packages.requirement,
    "rule": api_tables.bundle_rule,
    "spark": session.attribute,
    "sql": api_tables.sql_construct,
    "statement": session.statement,
    "task": api_tables.task,
    "view": api_tables.view,
}


def knowledge_with(mounts: Sequence[tuple[str, str]]) -> Mapping[Kind, Judge]:
    """Return `KNOWLEDGE` for a project with these mounts."""
    if not mounts:
        return KNOWLEDGE
    return {**KNOWLEDGE, "path": partial(paths.path, path_map=paths.map_with(mounts))}


def judge_use(use: Use, knowledge: Mapping[Kind, Judge] = KNOWLEDGE) -> Finding | None:
    """Return the finding about one use, None for uses that simply work."""
    judge = knowledge.get(use.kind)
    fact = judge(use) if judge is not None else None
    if fact is None:
        return None
    if use.guarded and fact.verdict == "refused":
        cure = "The code catches the import's failure and goes its own way."
        return Finding("differs", fact.construct, use.place, cure, use.targets)
    return Finding(fact.verdict, fact.construct, use.place, fact.cure, use.targets)
