"""Generated matrices: user fields, merge keys by section, and kinds of resources by what is made of them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakeward.bundle import (
    LOCAL_RULES,
    RESOURCE_KINDS,
    Bundle,
    ResourceKind,
    findings,
    load,
    summarize_bundle,
    summary_lines,
)
from lakeward.bundle.configuration.computed_values import current_user
from lakeward.bundle.configuration.merge import MERGE_KEYS

Make = Callable[..., Bundle]
USER = "Zoë.Lee@example.com"


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Return every scalar below `value` by the path that a reference to it has."""
    if isinstance(value, dict):
        return {
            name: leaf for key, each in value.items() for name, leaf in leaves(each, f"{path}.{key}").items()
        }
    if isinstance(value, list):
        return {
            name: leaf for n, each in enumerate(value) for name, leaf in leaves(each, f"{path}[{n}]").items()
        }
    return {path: value}


FIELDS = leaves(current_user(USER))


@pytest.mark.parametrize("section", ["resources", "variables", "targets"])
@pytest.mark.parametrize("field", FIELDS)
def test_every_field_of_the_user_resolves(bundle_of: Make, field: str, section: str) -> None:
    reference = f"${{workspace.current_user{field}}}"
    texts = {
        "resources": f"resources: {{jobs: {{j: {{description: '{reference}'}}}}}}\n",
        "variables": f"variables: {{v: {{default: '{reference}'}}}}\n"
        "resources: {jobs: {j: {description: '${var.v}'}}}\n",
        "targets": f"targets: {{dev: {{resources: {{jobs: {{j: {{description: '{reference}'}}}}}}}}}}\n",
    }
    bundle = bundle_of("bundle: {name: b}\n" + texts[section], user=USER)
    assert bundle.jobs["j"]["description"] == FIELDS[field]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (".userName", USER),
        (".displayName", USER),
        (".short_name", "zoë_lee"),
        (".domain_friendly_name", "zoe-lee"),
        (".id", "0"),
        (".emails[0].value", USER),
        (".name.givenName", "Zoë"),
    ],
)
def test_the_fields_of_the_user_are_those_of_the_platform(field: str, value: str) -> None:
    assert FIELDS[field] == value


ELEMENTS = {
    "within one list": ("[{k: one, a: 1}, {k: two}, {k: one, b: 2}]", None),
    "target over base": ("[{k: one, a: 1}, {k: two}]", "[{k: one, b: 2}]"),
    "target with a new one": ("[{k: one, a: 1}]", "[{k: two}, {k: one, b: 2}]"),
    "key from a variable": ("[{k: '${var.key}', a: 1}, {k: two}]", "[{k: one, b: 2}]"),
    "number as a key": ("[{k: 1, a: 1}, {k: two}, {k: '1', b: 2}]", None),
}


@pytest.mark.parametrize("case", ELEMENTS)
@pytest.mark.parametrize(("kind", "name"), MERGE_KEYS)
def test_elements_of_one_key_are_merged(bundle_of: Make, kind: str, name: str, case: str) -> None:
    key = MERGE_KEYS[kind, name]
    base, over = (text and text.replace("k:", f"{key}:") for text in ELEMENTS[case])
    text = "bundle: {name: b}\nvariables: {key: {default: one}}\n"
    text += f"resources: {{{kind}: {{r: {{{name}: {base}}}}}}}\n"
    if over:
        text += f"targets: {{dev: {{resources: {{{kind}: {{r: {{{name}: {over}}}}}}}}}}}\n"
    merged = bundle_of(text).resources(kind)["r"][name]
    assert [str(each[key]) for each in merged] == ["1" if "number" in case else "one", "two"]
    assert (merged[0]["a"], merged[0]["b"]) == (1, 2)
    assert merged[1] == {key: "two"}


def test_the_lists_that_merge_are_those_that_are_documented() -> None:
    assert {f"{kind}.{name}": key for (kind, name), key in MERGE_KEYS.items()} == {
        "jobs.tasks": "task_key",
        "jobs.job_clusters": "job_cluster_key",
        "jobs.environments": "environment_key",
        "jobs.parameters": "name",
        "pipelines.clusters": "label",
        "apps.resources": "name",
        "catalogs.grants": "principal",
        "external_locations.grants": "principal",
        "registered_models.grants": "principal",
        "schemas.grants": "principal",
        "volumes.grants": "principal",
    }


def test_elements_without_a_key_stay_apart(bundle_of: Make) -> None:
    text = "bundle: {name: b}\nresources: {jobs: {j: {tasks: [{a: 1}, {b: 2}, {task_key: '0'}]}}}\n"
    assert bundle_of(text).jobs["j"]["tasks"] == [{"a": 1}, {"b": 2}, {"task_key": "0"}]


def test_pipeline_clusters_without_a_label_are_the_default_one(bundle_of: Make) -> None:
    clusters = "[{num_workers: 1}, {label: DEFAULT, node_type_id: x}, {label: maintenance}]"
    text = f"bundle: {{name: b}}\nresources: {{pipelines: {{p: {{clusters: {clusters}}}}}}}\n"
    merged = bundle_of(text).pipelines["p"]["clusters"]
    assert merged == [
        {"num_workers": 1, "label": "DEFAULT", "node_type_id": "x"},
        {"label": "maintenance"},
    ]


def test_privileges_of_one_principal_are_each_granted_once(bundle_of: Make) -> None:
    grants = "[{principal: a, privileges: [SELECT, MODIFY]}, {principal: a, privileges: [SELECT]}]"
    text = f"bundle: {{name: b}}\nresources: {{schemas: {{s: {{grants: {grants}}}}}}}\n"
    assert bundle_of(text).schemas["s"]["grants"] == [{"principal": "a", "privileges": ["SELECT", "MODIFY"]}]


def with_one(kind: ResourceKind, rest: str = "") -> str:
    settings = ", ".join(f"{part}: {part}_value" for part in dict.fromkeys(("name", *kind.full_name)))
    if kind.name == "pipelines":
        settings += ", libraries: [{file: {path: '/x.py'}}]"
    return f"bundle: {{name: b}}\nresources:\n  {kind.name}: {{res: {{{settings}}}}}\n{rest}"


@pytest.mark.parametrize("kind", RESOURCE_KINDS.values(), ids=lambda kind: kind.name)
def test_a_kind_is_valid_and_named_when_it_is_not_deployed(bundle_of: Make, kind: ResourceKind) -> None:
    found = findings(bundle_of(with_one(kind)))
    assert [each.rule for each in found] == ([] if kind.deployed else ["not-deployed"])
    assert {each.rule for each in found} <= LOCAL_RULES
    assert all(f"{kind.name}.res" in each.message and each.severity == "warning" for each in found)
    assert all(each.position is not None and each.position.line == 3 for each in found)


@pytest.mark.parametrize("kind", RESOURCE_KINDS.values(), ids=lambda kind: kind.name)
def test_a_kind_is_in_the_summary(bundle_of: Make, kind: ResourceKind) -> None:
    summary = summarize_bundle(bundle_of(with_one(kind)))
    resource = summary["resources"][kind.name]["res"]
    expected = ".".join(f"{part}_value" for part in kind.full_name) or "name_value"
    assert (resource["name"], resource["deployed_locally"]) == (expected, kind.deployed)
    assert json.dumps(summary)
    text = "\n".join(summary_lines(summary))
    assert f"{kind.title}:\n  res: {expected}" in text
    assert ("not deployed" in text) is not kind.deployed


REFERENCES = [
    (kind, field)
    for kind in RESOURCE_KINDS.values()
    for field in dict.fromkeys(("id", "name", *kind.identifiers, *kind.computed))
]


@pytest.mark.parametrize(("kind", "field"), REFERENCES, ids=lambda each: getattr(each, "name", each))
def test_a_field_of_a_kind_can_be_referenced(bundle_of: Make, kind: ResourceKind, field: str) -> None:
    rest = f"  jobs: {{j: {{description: 'x-${{resources.{kind.name}.res.{field}}}'}}}}\n"
    text = with_one(kind, rest if kind.name != "jobs" else "")
    if kind.name == "jobs":
        text = text.replace("{res: {", f"{{j: {{description: 'x-${{resources.jobs.res.{field}}}'}}, res: {{")
    bundle = bundle_of(text)
    value = bundle.jobs["j"]["description"].removeprefix("x-")
    by_name = ".".join(f"{part}_value" for part in kind.full_name)
    if field == "name":
        assert value == "name_value"
    elif field in ("id", *kind.identifiers):
        assert value == (by_name or str(bundle.id_of(kind.name, "res")))
    else:
        assert value == f"{kind.name}:res:{field}"


def test_the_path_of_a_volume_can_be_referenced(bundle_of: Make) -> None:
    rest = "  jobs: {j: {description: '${resources.volumes.res.volume_path}'}}\n"
    bundle = bundle_of(with_one(RESOURCE_KINDS["volumes"], rest))
    assert bundle.jobs["j"]["description"] == "/Volumes/catalog_name_value/schema_name_value/name_value"


def test_names_of_the_users_in_resources_are_no_unknown_fields(bundle_of: Make) -> None:
    """Maps, references to complex variables, and fields that a bundle has in addition to the API."""
    text = """
bundle: {name: b}
variables: {c: {default: {spark_version: '1'}}}
resources:
  jobs:
    j:
      name: x
      tags: {mine: a}
      permissions: [{level: CAN_VIEW, group_name: g}]
      lifecycle: {prevent_destroy: true}
      job_clusters: [{job_cluster_key: k, new_cluster: "${var.c}"}]
      parameters: [{name: p, default: d}]
      tasks: [{task_key: a, notebook_task: {notebook_path: n, base_parameters: {mine: b}}}]
"""
    assert "unknown-field" not in [each.rule for each in findings(bundle_of(text))]


def test_an_unknown_kind_is_an_unknown_field(bundle_of: Make) -> None:
    (finding,) = findings(bundle_of("bundle: {name: b}\nresources: {jbos: {j: {name: x}}}\n"))
    assert finding.rule == "unknown-field" and "Did you mean `jobs`" in finding.cure


PLACES = {
    "top": "{key}: {{a: 1}}\n",
    "target": "targets: {{dev: {{{key}: 1}}}}\n",
    "workspace": "workspace: {{{key}: 1}}\n",
    "workspace of a target": "targets: {{dev: {{workspace: {{{key}: 1}}}}}}\n",
    "resources": "resources: {{{key}: {{a: {{name: x}}}}}}\n",
    "resources of a target": "targets: {{dev: {{resources: {{{key}: {{a: {{name: x}}}}}}}}}}\n",
    "job": "resources: {{jobs: {{j: {{name: x, {key}: 1}}}}}}\n",
    "task": "resources: {{jobs: {{j: {{name: x, tasks: [{{task_key: a, {key}: 1}}]}}}}}}\n",
    "notebook task": "resources: {{jobs: {{j: {{tasks: [{{notebook_task: {{{key}: 1}}}}]}}}}}}\n",
    "job of a target": "targets: {{dev: {{resources: {{jobs: {{j: {{schedule: {{{key}: 1}}}}}}}}}}}}\n",
    "pipeline": "resources: {{pipelines: {{p: {{name: x, {key}: 1}}}}}}\n",
    "library": "resources: {{pipelines: {{p: {{name: x, libraries: [{{{key}: a.py}}]}}}}}}\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("key", ["common_permissions", "x-anything", "resorces", "hosts"])
def test_an_unknown_key_is_a_warning(bundle_of: Make, key: str, place: str) -> None:
    bundle = bundle_of("bundle: {name: b}\n" + PLACES[place].format(key=key))
    (finding,) = [each for each in findings(bundle) if each.rule == "unknown-field"]
    assert finding.severity == "warning"
    assert finding.message == f"Unknown field: {key}. It is ignored."
    assert finding.position is not None and finding.position.line == 2


@pytest.mark.parametrize(
    "spelling",
    ["{{job.parameters.[p]}}", "{{ job.parameters.[p] }}", "{{job.parameters.`p`}}", "{{job.parameters.p}}"],
)
@pytest.mark.parametrize("known", [True, False])
def test_a_job_parameter_is_known_in_every_spelling(bundle_of: Make, spelling: str, known: bool) -> None:
    task = f"{{task_key: t, notebook_task: {{notebook_path: /n, base_parameters: {{a: '{spelling}'}}}}}}"
    job = f"{{parameters: [{{name: {'p' if known else 'q'}, default: ''}}], tasks: [{task}]}}"
    found = findings(bundle_of(f"bundle: {{name: b}}\nresources: {{jobs: {{j: {job}}}}}\n"))
    assert [each.rule for each in found] == ([] if known else ["job-parameter"])


GIT = {
    "branch": "feature",
    "actual_branch": "feature",
    "commit": "[0-9a-f]{40}",
    "origin_url": "https://example.com/r.git",
    "bundle_root_path": "inner/b",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    (root / "inner/b").mkdir(parents=True)
    own = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for command in (
        ("init", "-q", "-b", "feature"),
        ("remote", "add", "origin", GIT["origin_url"]),
        (*own, "commit", "-q", "--allow-empty", "-m", "x"),
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root


@pytest.mark.parametrize("where", ["repository", "elsewhere"])
@pytest.mark.parametrize("field", GIT)
def test_a_field_of_git_is_that_of_the_repository_or_empty(
    repository: Path, tmp_path: Path, field: str, where: str
) -> None:
    folder = repository / "inner/b" if where == "repository" else tmp_path
    text = f"bundle: {{name: b}}\nresources: {{jobs: {{j: {{description: '${{bundle.git.{field}}}'}}}}}}\n"
    (folder / "databricks.yml").write_text(text)
    expected = GIT[field] if where == "repository" else "." if field == "bundle_root_path" else ""
    assert re.fullmatch(expected, load(folder, environ={}).jobs["j"]["description"])


@pytest.mark.parametrize("field", ["bundle.cluster_id", "bundle.uuid", "workspace.profile", "workspace.host"])
def test_a_known_field_that_is_not_set_is_empty(bundle_of: Make, field: str) -> None:
    text = f"bundle: {{name: b}}\nresources: {{jobs: {{j: {{description: 'x${{{field}}}'}}}}}}\n"
    assert bundle_of(text).jobs["j"]["description"] == "x"
