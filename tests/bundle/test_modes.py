"""What the modes of a target do to its resources, and refuse (BN-2.4)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakeward.bundle import Bundle, short_name
from lakeward.errors import BundleError

RESOURCES = """
resources:
  jobs:
    j:
      name: daily
      tags: {team: data}
      schedule: {quartz_cron_expression: 0 0 1 * * ?, timezone_id: UTC}
    awake:
      name: awake
      max_concurrent_runs: 1
      tags: {dev: mine}
      continuous: {pause_status: UNPAUSED}
  pipelines: {p: {name: p, continuous: true, schema: "${resources.schemas.s.name}"}}
  schemas: {s: {catalog_name: c, name: lake}}
  volumes: {v: {catalog_name: c, schema_name: "${resources.schemas.s.name}", name: files}}
  secret_scopes: {k: {name: scope}}
  dashboards: {d: {display_name: sales, serialized_dashboard: "{}"}}
"""
DEV = f"bundle: {{name: b}}\n{RESOURCES}\ntargets: {{dev: {{mode: development}}}}\n"


def test_development_prefixes_names_pauses_schedules_and_tags(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of(DEV)
    job = bundle.jobs["j"]
    assert bundle.mode == "development"
    assert job["name"] == "[dev ann_lee] daily"
    assert job["schedule"]["pause_status"] == "PAUSED"
    assert job["tags"] == {"dev": "ann_lee", "team": "data"}
    assert job["max_concurrent_runs"] == 4
    pipeline = bundle.pipelines["p"]
    assert (pipeline["name"], pipeline["development"], pipeline["continuous"]) == (
        "[dev ann_lee] p",
        True,
        False,
    )
    assert bundle.resources("dashboards")["d"]["display_name"] == "[dev ann_lee] sales"


def test_what_a_resource_says_itself_wins_over_the_mode(bundle_of: Callable[..., Bundle]) -> None:
    job = bundle_of(DEV).jobs["awake"]
    assert job["continuous"]["pause_status"] == "UNPAUSED"
    assert job["max_concurrent_runs"] == 1
    assert job["tags"] == {"dev": "mine"}


def test_references_to_a_schema_see_its_prefixed_name(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of(DEV)
    assert bundle.schemas["s"]["name"] == "dev_ann_lee_lake"
    assert bundle.volumes["v"]["schema_name"] == "dev_ann_lee_lake"
    assert bundle.pipelines["p"]["schema"] == "dev_ann_lee_lake"


def test_volumes_and_scopes_get_no_prefix(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of(DEV)
    assert bundle.volumes["v"]["name"] == "files"
    assert bundle.secret_scopes["k"]["name"] == "scope"


def test_presets_win_over_the_mode(bundle_of: Callable[..., Bundle]) -> None:
    text = DEV.replace(
        "{mode: development}",
        "{mode: development, presets: {name_prefix: 'my ', trigger_pause_status: UNPAUSED, tags: {x: y}}}",
    )
    bundle = bundle_of(text)
    assert bundle.jobs["j"]["name"] == "my daily"
    assert bundle.schemas["s"]["name"] == "my_lake"
    assert bundle.jobs["j"]["schedule"]["pause_status"] == "UNPAUSED"
    assert bundle.jobs["j"]["tags"] == {"dev": "ann_lee", "x": "y", "team": "data"}


def test_schemas_may_be_freed_of_the_prefix(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of(f"{DEV}\nexperimental: {{skip_name_prefix_for_schema: true}}\n")
    assert bundle.schemas["s"]["name"] == "lake"


def test_a_shared_root_path_is_refused_in_development(refusal_of: Callable[..., BundleError]) -> None:
    error = refusal_of(f"{DEV}\nworkspace: {{root_path: /Workspace/Shared/b}}\n")
    assert error.condition == "MODE_VIOLATED"
    assert "${workspace.current_user.userName}" in str(error)


def test_paths_of_the_workspace_have_defaults_below_the_users_home(bundle_of: Callable[..., Bundle]) -> None:
    workspace = bundle_of(DEV).config["workspace"]
    assert workspace["root_path"] == "/Workspace/Users/Ann.Lee@example.com/.bundle/b/dev"
    assert workspace["file_path"] == f"{workspace['root_path']}/files"
    tilde = bundle_of(f"{DEV}\nworkspace: {{root_path: ~/x}}\n").config["workspace"]
    assert tilde["state_path"] == "/Workspace/Users/Ann.Lee@example.com/x/state"


PROD = "bundle: {name: b}\nresources: {pipelines: {p: {name: p%s}}}\ntargets: {prod: {mode: production%s}}\n"
ROOT = ", workspace: {root_path: /Workspace/x}"


def test_production_wants_an_explicit_root_path_unless_a_service_principal_deploys(
    bundle_of: Callable[..., Bundle], refusal_of: Callable[..., BundleError]
) -> None:
    assert "root_path" in str(refusal_of(PROD % ("", "")))
    assert bundle_of(PROD % ("", ROOT)).pipelines["p"]["name"] == "p"
    assert bundle_of(PROD % ("", ""), user="11111111-2222-3333-4444-555555555555").mode == "production"


def test_production_refuses_development_pipelines(refusal_of: Callable[..., BundleError]) -> None:
    error = refusal_of(PROD % (", development: true", ROOT))
    assert error.condition == "MODE_VIOLATED"
    assert "pipeline p" in error.message


def test_another_mode_is_refused(refusal_of: Callable[..., BundleError]) -> None:
    assert refusal_of("bundle: {name: b}\ntargets: {t: {mode: staging}}\n").condition == "MODE_UNKNOWN"


def test_a_pause_status_is_one_of_two(refusal_of: Callable[..., BundleError]) -> None:
    text = "bundle: {name: b}\npresets: {trigger_pause_status: OFF}\n"
    assert refusal_of(text).condition == "PRESET_INVALID"


@pytest.mark.parametrize(
    ("user", "expected"),
    [
        ("ann", "ann"),
        ("Ann.Lee@example.com", "ann_lee"),
        ("Jürgen", "jürgen"),
        ("a--b", "a_b"),
        ("@@", "user"),
    ],
)
def test_short_names_are_made_of_letters_digits_and_underscores(user: str, expected: str) -> None:
    assert short_name(user) == expected
