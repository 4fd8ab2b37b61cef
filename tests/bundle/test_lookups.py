"""Variables that look up ids by name: resources of the bundle are found, others keep kind and name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lakeward.bundle import Bundle, deploy
from lakeward.bundle.configuration.lookups import LOOKUPS
from lakeward.errors import BundleError

_DECLARED = {kind: resource for kind, resource in LOOKUPS.items() if resource is not None}
_PREFIXED = ("dashboard", "job", "pipeline")
_SPELLINGS = [(kind, "own") for kind in _DECLARED] + [(kind, "[dev ann_lee] own") for kind in _PREFIXED]


def text_of(kind: str, name: str, resources: str = "") -> str:
    return f"""
    bundle: {{name: b}}
    variables: {{x: {{lookup: {{{kind}: "{name}"}}}}}}
    targets: {{dev: {{mode: development}}}}
    resources:
      {resources}
      schemas: {{user: {{catalog_name: main, name: s, comment: "${{var.x}}"}}}}
    """


def resources_of(kind: str, *names: str) -> str:
    resource, field = _DECLARED[kind]
    named = ", ".join(f'k{number}: {{{field}: "{name}"}}' for number, name in enumerate(names))
    return f"{resource}: {{{named}}}"


def found_in(bundle: Bundle) -> str:
    return str(bundle.resources("schemas")["user"]["comment"])


@pytest.mark.parametrize(("kind", "name"), _SPELLINGS)
def test_a_resource_of_the_bundle_is_found_with_and_without_the_prefix_of_the_target(
    bundle_of: Callable[..., Bundle], kind: str, name: str
) -> None:
    bundle = bundle_of(text_of(kind, name, resources_of(kind, "another", "own")))
    assert found_in(bundle) == str(bundle.id_of(_DECLARED[kind][0], "k1"))


@pytest.mark.parametrize("kind", LOOKUPS)
def test_anything_else_keeps_its_kind_and_name(bundle_of: Callable[..., Bundle], kind: str) -> None:
    resources = resources_of(kind, "another") if kind in _DECLARED else ""
    assert found_in(bundle_of(text_of(kind, "own", resources))) == f"{kind}:own"


def test_a_name_that_two_resources_have_is_not_resolved(bundle_of: Callable[..., Bundle]) -> None:
    assert found_in(bundle_of(text_of("job", "own", resources_of("job", "own", "own")))) == "job:own"


@pytest.mark.parametrize("name", ["own", "elsewhere"])
def test_the_id_of_a_job_is_no_mistyped_number(bundle_of: Callable[..., Bundle], name: str) -> None:
    task = '{task_key: t, run_job_task: {job_id: "${var.x}"}}'
    jobs = f"jobs: {{own: {{name: own}}, outer: {{name: outer, tasks: [{task}]}}}}"
    bundle = bundle_of(text_of("job", name, jobs))
    expected = bundle.id_of("jobs", "own") if name == "own" else "job:elsewhere"
    assert bundle.jobs["outer"]["tasks"][0]["run_job_task"]["job_id"] == expected
    assert not bundle.notices


def test_an_id_inside_of_a_text_is_resolved_too(bundle_of: Callable[..., Bundle]) -> None:
    """One name begins with the other."""
    text = text_of("job", "own", resources_of("job", "own", "own job")).replace(
        "variables: {", 'variables: {y: {lookup: {job: "own job"}}, '
    )
    bundle = bundle_of(text.replace('"${var.x}"', '"#job/${var.x}/${var.y}"'))
    assert found_in(bundle) == f"#job/{bundle.id_of('jobs', 'k0')}/{bundle.id_of('jobs', 'k1')}"


class Workspace:
    """A workspace that has jobs and pipelines of some names, and takes no deployment."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        if method == "GET" and path.startswith("/api/2.2/jobs/list?name="):
            jobs = [{"job_id": 7, "settings": {"name": name}} for name in self.names]
            return {"jobs": jobs}
        assert path.startswith("/api/2.0/pipelines?"), path
        return {"statuses": [{"pipeline_id": "7", "name": name} for name in self.names]}

    def upload(self, path: str, content: bytes) -> None: ...

    def download(self, path: str) -> bytes:
        raise LookupError


@pytest.mark.parametrize("names", [(), ("like own",), ("own", "own")], ids=["none", "another", "two"])
@pytest.mark.parametrize("kind", ["job", "pipeline"])
def test_nothing_is_deployed_without_exactly_one_object_of_the_name(
    bundle_of: Callable[..., Bundle], kind: str, names: tuple[str, ...]
) -> None:
    with pytest.raises(BundleError, match=f"looks up the {kind} `own`") as caught:
        deploy(bundle_of(text_of(kind, "own")), Workspace(*names), {}, user="me")
    assert caught.value.condition == "VARIABLE_LOOKUP"
