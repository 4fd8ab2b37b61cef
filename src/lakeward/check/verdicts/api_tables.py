"""Verdicts that the table of one package decides: SQL, Auto Loader, pipelines, dbutils, tasks, views."""

from __future__ import annotations

from lakeward.autoloader import READABLE_FORMATS, find_option
from lakeward.check.model import Fact, Use, Verdict
from lakeward.check.verdicts.words import NOTHING, SERVED, sentence
from lakeward.check.view_obstacles import DOCUMENTATION, decode_obstacles
from lakeward.dbutils import FUNCTIONS as DBUTILS_FUNCTIONS
from lakeward.dbutils import GROUPS
from lakeward.pipelines import FUNCTIONS as PIPELINE_FUNCTIONS
from lakeward.pipelines import function as pipelines_function
from lakeward.sql import CONSTRUCTS, MISSING_FUNCTIONS, PASSTHROUGH_STATEMENTS

_SQL_VERDICTS: dict[str, Verdict] = {
    "supported": "runs_as_is",
    "rewritten": "runs_with_lakeward",
    "emulated": "runs_with_lakeward",
    "unsupported": "refused",
}


def _sql_facts() -> dict[str, Fact]:
    found = {}
    for row in CONSTRUCTS:
        verdict, note = _SQL_VERDICTS[row.verdict], row.note
        if verdict != "refused":
            note = f"nothing to do: {note}" if note else NOTHING if verdict == "runs_as_is" else SERVED
        found[row.name] = Fact(f"SQL {row.name}", verdict, sentence(note))
    for phrase in PASSTHROUGH_STATEMENTS:
        name = f"SQL {phrase.name}"
        found[phrase.name] = Fact(name, _SQL_VERDICTS[phrase.verdict], sentence(phrase.instead) or NOTHING)
    for group in MISSING_FUNCTIONS:
        for name in group.names:
            cure = f"Not available here: {group.reason}. Call it in a view that tests replace."
            found.setdefault(f"{name}()", Fact(f"SQL {name}()", "refused", cure))
    return found


_SQL_FACTS = _sql_facts()


def sql_construct(use: Use) -> Fact | None:
    """Return the verdict on a construct of SQL."""
    return _SQL_FACTS.get(use.name)


_PREFIX = "cloudfiles."


def option(use: Use) -> Fact | None:
    """Return the verdict on one option and, if known, its value; None for what Auto Loader ignores."""
    row = find_option(use.name)
    if row is None:
        if not use.name.lower().startswith(_PREFIX) or "{…}" in use.name:
            return None
        cure = "Check the spelling: an unknown key fails with CF_UNKNOWN_OPTION_KEYS_ERROR, there as here."
        return Fact(f"option {use.name}", "refused", cure)
    name = f"option {row.key}"
    if (
        row.key == "cloudFiles.format"
        and use.detail is not None
        and use.detail.lower() not in READABLE_FORMATS
    ):
        known = ", ".join(READABLE_FORMATS)
        return Fact(f"{name}={use.detail}", "refused", f"Formats that can be read: {known}.")
    if row.verdict == "accepted" and not (use.detail and row.is_default(use.detail)):
        return Fact(name, "differs", f"It has no effect here: {row.note}.")
    return Fact(name, "runs_with_lakeward", SERVED)


def pipeline_function(use: Use) -> Fact:
    """Return the verdict on a function or decorator."""
    row = pipelines_function(use.name)
    name = f"pipelines {use.name}"
    if row is None:
        names = ", ".join(each.name for each in PIPELINE_FUNCTIONS)
        return Fact(name, "refused", f"The pipeline API has no such function; there are {names}.")
    return Fact(name, "runs_with_lakeward", SERVED)


def pipeline_parameter(use: Use) -> Fact | None:
    """Return the verdict on a parameter that was given, None for those that simply work."""
    name, _, parameter_name = use.name.partition(".")
    row = pipelines_function(name)
    if row is None:
        return None
    declared = row.parameter(parameter_name)
    shown = f"pipelines {name}({parameter_name}=…)"
    if declared is None:
        return Fact(
            shown, "refused", f"The function {name} has no such parameter: it is a TypeError, there as here."
        )
    if declared.verdict == "supported" or use.detail is None or not declared.is_given(use.detail):
        return None
    if declared.verdict == "refused":
        return Fact(shown, "refused", sentence(declared.note))
    return Fact(shown, "differs", f"It has no effect here: {declared.note}.")


_DBUTILS = {f"{row.group}.{row.name}": row for row in DBUTILS_FUNCTIONS}
_DBUTILS_VERDICTS: dict[str, Verdict] = {
    "runs": "runs_with_lakeward",
    "differs": "differs",
    "no effect": "differs",
    "refused": "refused",
}


def dbutils_function(use: Use) -> Fact | None:
    """Return the verdict on `dbutils.<group>.<function>`; None for a group that is only passed on."""
    name = use.name
    shown = f"dbutils.{name}"
    if name in GROUPS or name == "help" or name.endswith(".help"):
        return None
    for entry_point in ("notebook.entry_point", "entry_point"):
        if f"{name}.".startswith(f"{entry_point}."):
            return Fact(f"dbutils.{entry_point}", "runs_with_lakeward", SERVED)
    row = _DBUTILS.get(name)
    if row is None:
        if use.detail is not None:  # imported, or an attribute: it may be the user's own of this name
            return None
        if ".".join(name.split(".")[:2]) in _DBUTILS:  # an attribute of the function: a test double
            return None
        return Fact(shown, "refused", "There is no such function in dbutils.")
    verdict = _DBUTILS_VERDICTS[row.verdict]
    if verdict == "runs_with_lakeward":
        return Fact(shown, verdict, SERVED)
    if row.verdict == "no effect":
        return Fact(shown, verdict, f"It has no effect here{': ' + row.note if row.note else ''}.")
    return Fact(shown, verdict, sentence(row.note))


def task(use: Use) -> Fact:
    """Return the verdict on a task: by its kind, or by what its definition is refused for (`detail`)."""
    from lakeward.jobs import COMPOSITES, KINDS, REFUSED

    if use.detail is not None:
        return Fact(use.name, "refused", use.detail)
    known = (*KINDS, *COMPOSITES)
    if use.name in known:
        return Fact(use.name, "runs_with_lakeward", SERVED)
    why = REFUSED.get(use.name, "")
    text = f"Tasks of this kind cannot be run here; those that can: {', '.join(sorted(known))}."
    return Fact(use.name, "refused", f"{why} {text}".lstrip())


def bundle_rule(use: Use) -> Fact:
    """Return the verdict on what a rule of bundles refuses."""
    return Fact(f"bundle rule {use.name}", "refused", use.detail or "")


def bundle_field(use: Use) -> Fact:
    """Return the verdict on a field of a bundle that has no effect, or has another type than it should."""
    return Fact(f"bundle rule {use.name}", "differs", use.detail or "")


def view(use: Use) -> Fact:
    """Return the verdict on one materialized view."""
    name = f"materialized view {use.name}"
    found = decode_obstacles(use.detail)
    if not found:
        return Fact(name, "runs_with_lakeward", "Nothing in its source keeps it from an incremental refresh.")
    reasons = "; ".join(f"{obstacle.reason.format(word=word)} ({obstacle.cure})" for obstacle, word in found)
    return Fact(name, "differs", f"Databricks recomputes it in every update: {reasons}. See {DOCUMENTATION}.")
