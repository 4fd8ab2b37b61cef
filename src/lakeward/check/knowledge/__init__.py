"""What the runtime does about each use: the tables that its rooms declare, asked through one door.

Each module here translates the table of one room into facts and adds nothing to it. A new room's table
becomes known by one more entry in `KNOWLEDGE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lakeward.check.knowledge import (
    autoloader,
    dbutils,
    jobs,
    modules,
    packages,
    paths,
    pipelines,
    session,
    sql,
)
from lakeward.check.model import Fact, Finding, Kind, Use

__all__ = ["KNOWLEDGE", "Judge", "judged"]

Judge = Callable[[Use], "Fact | None"]

KNOWLEDGE: Mapping[Kind, Judge] = {
    "builtin": modules.builtin,
    "conf": session.setting,
    "dbutils": dbutils.function,
    "format": session.data_format,
    "magic": modules.magic,
    "module": modules.module,
    "option": autoloader.option,
    "parameter": pipelines.parameter,
    "path": paths.path,
    "pipeline": pipelines.function_,
    "requirement": packages.requirement,
    "spark": session.attribute,
    "sql": sql.construct,
    "statement": session.statement,
    "task": jobs.task,
}


def judged(use: Use, knowledge: Mapping[Kind, Judge] = KNOWLEDGE) -> Finding | None:
    """The finding about one use, None for what needs no word."""
    judge = knowledge.get(use.kind)
    fact = judge(use) if judge is not None else None
    if fact is None:
        return None
    if use.guarded and fact.verdict == "refused":
        cure = "The code catches the import's failure and goes its own way."
        return Finding("differs", fact.construct, use.place, cure)
    return Finding(fact.verdict, fact.construct, use.place, fact.cure)
