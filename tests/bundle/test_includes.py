"""One tree from databricks.yml and its includes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.bundle import Bundle, find_root, load
from lakeward.errors import BundleError

ROOT = "bundle: {name: b}\ninclude: [resources/*.yml]\n"


def test_every_included_file_adds_its_resources(bundle_of: Callable[..., Bundle]) -> None:
    files = {
        "resources/a.yml": "resources: {jobs: {a: {name: A}}}",
        "resources/b.yml": "resources: {jobs: {b: {name: B}}, pipelines: {p: {name: P}}}",
    }
    bundle = bundle_of(ROOT, files=files)
    assert sorted(bundle.jobs) == ["a", "b"]
    assert list(bundle.pipelines) == ["p"]


def test_a_pattern_without_a_match_is_fine_but_a_missing_file_is_not(
    bundle_of: Callable[..., Bundle], refusal_of: Callable[..., BundleError]
) -> None:
    assert bundle_of(ROOT).jobs == {}
    error = refusal_of("bundle: {name: b}\ninclude:\n  - resources/*.yml\n  - resources/daily.yml\n")
    assert error.condition == "INCLUDE_NOT_FOUND"
    assert "databricks.yml:4:5" in error.message
    assert "resources/daily.yml" in error.message


def test_broken_yaml_in_an_included_file_names_that_file(refusal_of: Callable[..., BundleError]) -> None:
    error = refusal_of(ROOT, files={"resources/a.yml": "resources:\n  jobs: {a: [}\n"})
    assert error.message.startswith("resources/a.yml:2:14: ")
    assert error.exit_code == 2


def test_keys_that_included_files_repeat_are_warnings_with_their_places(
    bundle_of: Callable[..., Bundle],
) -> None:
    more = "resources:\n  jobs:\n    a: {name: one}\n    a: {name: two}\n"
    text = "bundle: {name: b, name: c}\ninclude: [more.yml]\n"
    bundle = bundle_of(text, files={"more.yml": more})
    assert (bundle.name, bundle.jobs["a"]["name"]) == ("c", "two")
    found = [notice for notice in bundle.notices if notice.rule == "repeated-key"]
    assert [(str(each.position), each.severity) for each in found] == [
        ("databricks.yml:1:19", "warning"),
        ("more.yml:4:5", "warning"),
    ]
    assert "first at more.yml:3:5" in found[1].message


@pytest.mark.parametrize("kind", ["jobs", "pipelines"])
def test_one_key_names_one_resource_whatever_its_kind(
    refusal_of: Callable[..., BundleError], kind: str
) -> None:
    files = {
        "resources/a.yml": "resources: {jobs: {daily: {name: A}}}",
        "resources/b.yml": f"resources:\n  {kind}:\n    daily:\n      name: B\n",
    }
    error = refusal_of(ROOT, files=files)
    assert error.condition == "RESOURCE_DUPLICATE"
    assert "resources/b.yml:3:5" in error.message
    assert "resources/a.yml:1:" in error.message


def test_a_resource_without_settings_is_refused(refusal_of: Callable[..., BundleError]) -> None:
    error = refusal_of("bundle: {name: b}\nresources:\n  jobs:\n    daily:\n")
    assert error.condition == "RESOURCE_EMPTY"
    assert "jobs.daily" in error.message


def test_only_the_root_file_includes(refusal_of: Callable[..., BundleError]) -> None:
    error = refusal_of(ROOT, files={"resources/a.yml": "include: [x.yml]"})
    assert error.message.startswith("resources/a.yml:1:")


@pytest.mark.parametrize("pattern", ["/etc/*.yml", "${var.x}.yml", "notes.txt"])
def test_includes_are_relative_yaml_files_without_variables(
    refusal_of: Callable[..., BundleError], pattern: str
) -> None:
    error = refusal_of(f"bundle: {{name: b}}\ninclude: ['{pattern}']\n", files={"notes.txt": "hello"})
    assert error.condition == "INCLUDE_INVALID"


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_bytes(b"bundle: \xff\xfe")
    with pytest.raises(BundleError, match=r"databricks\.yml: this file is not UTF-8"):
        load(tmp_path)


def test_a_folder_without_a_bundle_reports_it(tmp_path: Path) -> None:
    with pytest.raises(BundleError) as caught:
        load(tmp_path)
    assert caught.value.condition == "BUNDLE_NOT_FOUND"
    assert "lakeward pipeline" in str(caught.value)


def test_two_root_files_are_one_too_many(tmp_path: Path) -> None:
    for name in ("databricks.yml", "bundle.yml"):
        (tmp_path / name).write_text("bundle: {name: b}")
    with pytest.raises(BundleError, match="more than one root file"):
        load(tmp_path)


def test_the_root_is_found_from_any_folder_below(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text("bundle: {name: b}")
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    assert find_root(inner) == tmp_path


@pytest.mark.parametrize(("section", "meant"), [("resorces", "resources"), ("target", "targets")])
def test_a_mistyped_section_is_a_warning_with_what_was_meant(
    bundle_of: Callable[..., Bundle], section: str, meant: str
) -> None:
    (notice,) = bundle_of(f"bundle: {{name: b}}\n{section}: {{a: {{}}}}\n").notices
    assert (notice.rule, notice.severity) == ("unknown-field", "warning")
    assert str(notice).startswith(f"warning: databricks.yml:2:1: Unknown field: {section}.")
    assert f"Did you mean `{meant}`" in str(notice)


def test_a_section_that_only_holds_anchors_is_ignored(bundle_of: Callable[..., Bundle]) -> None:
    bundle = bundle_of("definitions: {x: &x {name: J}}\nbundle: {name: b}\nresources: {jobs: {j: *x}}\n")
    assert bundle.jobs["j"]["name"] == "J"
    assert not bundle.notices
