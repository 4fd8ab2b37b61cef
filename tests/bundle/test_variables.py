"""The value of a variable comes from the strongest source that has one."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations

import pytest

from lakeward.bundle import Bundle
from lakeward.errors import BundleError

OVERRIDES = ".databricks/bundle/dev/variable-overrides.json"
# From strong to weak (BN-4.4).
SOURCES = ("var", "environment", "overrides", "target", "default")


@pytest.mark.parametrize("present", [c for n in range(1, 6) for c in combinations(SOURCES, n)], ids="+".join)
def test_the_strongest_of_the_present_sources_wins(
    bundle_of: Callable[..., Bundle], present: tuple[str, ...]
) -> None:
    default = "{default: default}" if "default" in present else "{description: none}"
    target = "{variables: {x: target}}" if "target" in present else "{}"
    bundle = bundle_of(
        f"bundle: {{name: b}}\nvariables: {{x: {default}}}\ntargets: {{dev: {target}}}\n"
        "resources: {jobs: {j: {name: '${var.x}'}}}\n",
        files={OVERRIDES: json.dumps({"x": "overrides"})} if "overrides" in present else {},
        environ={"BUNDLE_VAR_x": "environment"} if "environment" in present else {},
        var={"x": "var"} if "var" in present else {},
    )
    assert bundle.jobs["j"]["name"] == present[0]


def test_a_variable_without_a_value_names_the_ways_to_give_one(
    refusal_of: Callable[..., BundleError],
) -> None:
    error = refusal_of(
        "bundle: {name: b}\nvariables:\n  catalog:\n    description: where\ntargets: {dev: {}}\n"
    )
    assert error.condition == "VARIABLE_UNASSIGNED"
    assert "databricks.yml:3:3: the variable `catalog` has no value" in error.message
    for way in ("--var catalog=", "BUNDLE_VAR_catalog", ".databricks/bundle/dev/variable-overrides.json"):
        assert way in str(error)


def test_a_variable_declared_with_nothing_has_no_value_either(refusal_of: Callable[..., BundleError]) -> None:
    assert refusal_of("bundle: {name: b}\nvariables:\n  catalog:\n").condition == "VARIABLE_UNASSIGNED"


def test_empty_false_and_zero_are_values(bundle_of: Callable[..., Bundle]) -> None:
    text = """
    bundle: {name: b}
    variables: {a: {default: ""}, b: {default: false}, c: {default: 0}}
    resources: {jobs: {j: {name: "${var.a}|${var.b}|${var.c}", flag: "${var.b}", number: "${var.c}"}}}
    """
    job = bundle_of(text).jobs["j"]
    assert job == {"name": "|false|0", "flag": False, "number": 0}


def test_a_complex_variable_is_a_whole_value_that_may_refer_to_others(
    bundle_of: Callable[..., Bundle],
) -> None:
    text = """
    bundle: {name: b}
    variables:
      address: {default: a@example.com}
      mails: {type: complex, default: {on_failure: ["${var.address}"]}}
    resources:
      jobs:
        j: {name: "to ${var.mails.on_failure[0]}", email_notifications: "${var.mails}"}
    targets:
      dev: {default: true}
      quiet: {variables: {mails: {on_start: []}}}
    """
    assert bundle_of(text).jobs["j"] == {
        "name": "to a@example.com",
        "email_notifications": {"on_failure": ["a@example.com"]},
    }


def test_the_value_of_a_target_replaces_a_complex_default_whole(bundle_of: Callable[..., Bundle]) -> None:
    text = """
    bundle: {name: b}
    variables: {tags: {type: complex, default: {a: x, b: y}}}
    resources: {jobs: {j: {tags: "${var.tags}"}}}
    targets: {dev: {variables: {tags: {c: z}}}}
    """
    assert bundle_of(text).jobs["j"]["tags"] == {"c": "z"}


def test_overrides_may_be_complex_but_the_environment_may_not(
    bundle_of: Callable[..., Bundle], refusal_of: Callable[..., BundleError]
) -> None:
    text = """
    bundle: {name: b}
    variables: {tags: {type: complex, default: {a: x}}}
    resources: {jobs: {j: {tags: "${var.tags}"}}}
    targets: {dev: {}}
    """
    assert refusal_of(text, environ={"BUNDLE_VAR_tags": "{}"}).condition == "VARIABLE_INVALID"
    assert refusal_of(text, var={"tags": "{}"}).condition == "VARIABLE_INVALID"
    bundle = bundle_of(text, files={OVERRIDES: '{"tags": {"q": "r"}}'})
    assert bundle.jobs["j"]["tags"] == {"q": "r"}


@pytest.mark.parametrize("declared", ["", "type: complex, "], ids=["undeclared", "declared"])
@pytest.mark.parametrize("value", ["{a: 1}", "[1, 2]"], ids=["mapping", "list"])
@pytest.mark.parametrize("place", ["default", "target", "target-default"])
def test_a_default_may_be_a_mapping_or_list_without_a_type(
    bundle_of: Callable[..., Bundle], declared: str, value: str, place: str
) -> None:
    over = {"default": "{}", "target": f"{{x: {value}}}", "target-default": f"{{x: {{default: {value}}}}}"}
    text = f"""
    bundle: {{name: b}}
    variables: {{x: {{{declared}default: {value if place == "default" else "old"}}}}}
    resources: {{schemas: {{s: {{properties: "${{var.x}}"}}}}}}
    targets: {{dev: {{variables: {over[place]}}}}}
    """
    assert bundle_of(text).config["resources"]["schemas"]["s"]["properties"] == (
        {"a": 1} if value == "{a: 1}" else [1, 2]
    )


@pytest.mark.parametrize(
    ("declared", "value"), [("", '{"a": 1}'), ("", "[1]"), ("type: complex, ", '"text"')]
)
def test_a_value_of_the_overrides_file_has_the_declared_type(
    refusal_of: Callable[..., BundleError], declared: str, value: str
) -> None:
    text = f"bundle: {{name: b}}\nvariables: {{x: {{{declared}default: d}}}}\ntargets: {{dev: {{}}}}\n"
    assert refusal_of(text, files={OVERRIDES: f'{{"x": {value}}}'}).condition == "VARIABLE_INVALID"


@pytest.mark.parametrize(
    ("declared", "override", "expected"),
    [
        ("lookup: {warehouse: w}", "{default: d}", "d"),
        ("lookup: {warehouse: w}", "d", "d"),
        ("default: d", "{lookup: {warehouse: w}}", "warehouse:w"),
    ],
)
def test_a_targets_default_and_lookup_replace_each_other(
    bundle_of: Callable[..., Bundle], declared: str, override: str, expected: str
) -> None:
    text = f"""
    bundle: {{name: b}}
    variables: {{x: {{{declared}}}}}
    resources: {{jobs: {{j: {{name: "${{var.x}}"}}}}}}
    targets: {{dev: {{variables: {{x: {override}}}}}}}
    """
    assert bundle_of(text).jobs["j"]["name"] == expected


def test_a_value_for_an_undeclared_variable_names_near_misses(refusal_of: Callable[..., BundleError]) -> None:
    text = "bundle: {name: b}\nvariables: {catalog: {default: c}}\ntargets: {dev: {variables: {catlog: x}}}\n"
    assert "Did you mean `catalog`" in str(refusal_of(text))
    plain = "bundle: {name: b}\nvariables: {catalog: {default: c}}\ntargets: {dev: {}}\n"
    assert "Did you mean `catalog`" in str(refusal_of(plain, var={"catalgo": "x"}))
    assert "Did you mean `catalog`" in str(refusal_of(plain, files={OVERRIDES: '{"catalo": 1}'}))


@pytest.mark.parametrize("content", ["{", "[1]", '"x"'])
def test_a_broken_overrides_file_is_named(refusal_of: Callable[..., BundleError], content: str) -> None:
    error = refusal_of("bundle: {name: b}\ntargets: {dev: {}}\n", files={OVERRIDES: content})
    assert error.condition == "OVERRIDES_INVALID"
    assert error.message.startswith(OVERRIDES)


def test_a_lookup_is_itself_without_a_workspace_unless_a_value_is_given(
    bundle_of: Callable[..., Bundle], refusal_of: Callable[..., BundleError]
) -> None:
    text = """
    bundle: {name: b}
    variables: {size: {default: small}, w: {lookup: {warehouse: "${var.size}"}}}
    resources: {jobs: {j: {name: "${var.w}"}}}
    """
    assert bundle_of(text).jobs["j"]["name"] == "warehouse:small"
    assert refusal_of(text.replace("warehouse:", "warehose:")).condition == "VARIABLE_LOOKUP"
    assert bundle_of(text, var={"w": "abc"}).jobs["j"]["name"] == "abc"
