"""Common permissions reach every resource in its own words, and the highest level stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakeward.bundle import Bundle
from lakeward.errors import BundleError

TEXT = """
bundle: {name: b}
permissions: [{level: %s, group_name: team}]
resources:
  jobs: {j: {name: j, permissions: [{level: %s, group_name: team}, {level: IS_OWNER, user_name: ann}]}}
  pipelines: {p: {name: p}}
  secret_scopes: {s: {name: s}}
  schemas: {c: {name: c, catalog_name: main}}
  alerts: {a: {display_name: a}}
  dashboards: {d: {display_name: d}}
"""


def levels(bundle: Bundle, kind: str, key: str) -> dict[str, str]:
    return {
        next(value for name, value in entry.items() if name != "level"): entry["level"]
        for entry in bundle.resources(kind)[key].get("permissions") or ()
    }


@pytest.mark.parametrize(
    ("common", "job", "pipeline", "scope"),
    [
        ("CAN_VIEW", "CAN_VIEW", "CAN_VIEW", "READ"),
        ("CAN_RUN", "CAN_MANAGE_RUN", "CAN_RUN", None),
        ("CAN_MANAGE", "CAN_MANAGE", "CAN_MANAGE", "MANAGE"),
    ],
)
def test_a_level_is_translated_for_each_kind(
    bundle_of: Callable[..., Bundle], common: str, job: str, pipeline: str, scope: str | None
) -> None:
    bundle = bundle_of(TEXT % (common, "CAN_VIEW"))
    assert levels(bundle, "jobs", "j") == {"team": job, "ann": "IS_OWNER"}
    assert levels(bundle, "pipelines", "p") == {"team": pipeline}
    assert levels(bundle, "secret_scopes", "s") == ({"team": scope} if scope else {})
    assert "permissions" not in bundle.schemas["c"]
    read = "CAN_READ" if common == "CAN_VIEW" else common
    assert levels(bundle, "alerts", "a") == {"team": read}
    assert levels(bundle, "dashboards", "d") == ({} if common == "CAN_RUN" else {"team": read})


def test_a_higher_level_of_the_resource_itself_stays(bundle_of: Callable[..., Bundle]) -> None:
    assert levels(bundle_of(TEXT % ("CAN_VIEW", "CAN_MANAGE")), "jobs", "j")["team"] == "CAN_MANAGE"


@pytest.mark.parametrize(
    "entry",
    [
        "{level: IS_OWNER, user_name: a}",
        "{level: CAN_VIEW}",
        "{level: CAN_VIEW, user_name: a, group_name: b}",
    ],
)
def test_what_is_no_common_permission_is_refused_at_its_place(
    refusal_of: Callable[..., BundleError], entry: str
) -> None:
    error = refusal_of(f"bundle: {{name: b}}\npermissions:\n  - {entry}\n")
    assert error.condition == "PERMISSION_INVALID"
    assert "databricks.yml:3:" in error.message
