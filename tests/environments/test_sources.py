"""Each way in which a repository names its dependencies, read without running anything of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from lakeward.environments.model import Declarations, Role
from lakeward.environments.sources import read_all
from lakeward.errors import ConfigurationError

Repository = Callable[[Mapping[str, str]], Path]


def texts(found: Declarations) -> set[str]:
    return {each.text.replace(" ", "") for each in found.wanted}


CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "project, extras and groups, without those for documents": (
        {
            "pyproject.toml": """
                [project]
                name = "Sales_Mart"
                dependencies = ["a>=1", "b[x]==2; python_version >= '3.10'"]
                [project.optional-dependencies]
                spark = ["c"]
                all = ["sales-mart[spark]"]
                docs = ["mkdocs"]
                [dependency-groups]
                dev = ["d", {include-group = "typing"}]
                typing = ["e"]
                release = ["twine"]
            """
        },
        {"a>=1", "b[x]==2;python_version>='3.10'", "c", "d", "e"},
    ),
    "groups that include each other": (
        {"pyproject.toml": "[dependency-groups]\na = ['x', {include-group='b'}]\nb = [{include-group='a'}]"},
        {"x"},
    ),
    "uv, PDM and Hatch": (
        {
            "pyproject.toml": """
                [tool.uv]
                dev-dependencies = ["a"]
                [tool.pdm.dev-dependencies]
                test = ["b", "-e file:///${PROJECT_ROOT}/libs/own"]
                [tool.hatch.envs.default]
                dependencies = ["c"]
                [tool.hatch.envs.docs]
                dependencies = ["mkdocs"]
            """
        },
        {"a", "b", "c", "-e{root}/libs/own"},
    ),
    "uv's sources": (
        {
            "pyproject.toml": """
                [project]
                dependencies = ["a", "b[x]>=1", "c", "member"]
                [tool.uv.sources]
                a = {path = "libs/a", editable = true}
                b = {git = "https://host/b", tag = "v1", subdirectory = "py"}
                c = {index = "inner"}
                member = {workspace = true}
                [tool.uv.workspace]
                members = ["packages/*"]
                [[tool.uv.index]]
                name = "inner"
                url = "https://inner/simple"
            """,
            "libs/a/x": "",
            "packages/one/pyproject.toml": "[project]\nname = 'member'",
        },
        {"-e{root}/libs/a", "b[x]@git+https://host/b@v1#subdirectory=py", "c", "-e{root}/packages/one"},
    ),
    "Poetry": (
        {
            "pyproject.toml": """
                [tool.poetry.dependencies]
                python = "^3.10"
                a = "^1.2"
                b = {version = "~2.1", extras = ["x"], python = "<3.12"}
                c = {git = "https://host/c.git", branch = "main"}
                d = {path = "../d"}
                e = [{version = "1", markers = "sys_platform == 'linux'"}, {version = "2", python = ">=3.12"}]
                [tool.poetry.group.dev.dependencies]
                f = "*"
                [tool.poetry.group.docs.dependencies]
                mkdocs = "*"
                [tool.poetry.dev-dependencies]
                g = ">=1,<2"
            """
        },
        {
            "a>=1.2,<2",
            "b[x]>=2.1,<2.2;(python_version<'3.12')",
            "c@git+https://host/c.git@main",
            "{root}/../d",
            "e==1;(sys_platform=='linux')",
            "e==2;(python_version>='3.12')",
            "f",
            "g>=1,<2",
        },
    ),
    "requirements files with all that pip reads in them": (
        {
            "requirements.txt": """
                # the usual
                a==1.0  # pinned
                b>=2; python_version > "3.8"
                c==3 \\
                    --hash=sha256:00 \\
                    --hash=sha256:11
                -r more/inner.in
                -c constraints.txt
                --extra-index-url https://inner/simple
                -e .
                -e ./libs/own[x]
                ./vendored/own.whl
                git+https://host/d@v1
                legacy one
            """,
            "more/inner.in": "-r ../requirements.txt\ne",
            "constraints.txt": "a<2",
            "requirements-dev.txt": "-r requirements.txt\npytest==7.4",
            "docs-requirements.txt": "mkdocs",
            "requirements/test.txt": "f",
            "requirements/docs.txt": "mkdocs",
            "cicd/requirements_cicd.txt": "g",
            "samples/requirements.txt": "h",
        },
        {
            *("a==1.0", 'b>=2;python_version>"3.8"', "c==3", "e", "pytest==7.4", "f", "g"),
            *("-e{root}/libs/own[x]", "{root}/vendored/own.whl", "git+https://host/d@v1"),
        },
    ),
    "setup.py, read and not run": (
        {
            "setup.py": """
                from setuptools import setup, find_packages
                raise SystemExit("this file was run")
                BASE = ["a>=1", "b"]
                TESTS = BASE + ["c"]
                setup(
                    name="x", packages=find_packages(), install_requires=[*BASE, "d"],
                    extras_require={"test": TESTS, "docs": ["mkdocs"]}, python_requires=">=3.8",
                )
            """
        },
        {"a>=1", "b", "c", "d"},
    ),
    "setup.cfg": (
        {
            "setup.cfg": """
                [options]
                install_requires =
                    a>=1
                    b; python_version > "3.8"
                python_requires = >=3.9
                [options.extras_require]
                test = c
                docs = mkdocs
            """
        },
        {"a>=1", 'b;python_version>"3.8"', "c"},
    ),
    "setuptools with its dependencies in a file": (
        {
            "pyproject.toml": """
                [project]
                dynamic = ["dependencies"]
                [tool.setuptools.dynamic]
                dependencies = {file = ["deps.in"]}
            """,
            "deps.in": "a",
        },
        {"a"},
    ),
    "Pipfile": (
        {
            "Pipfile": """
                [packages]
                a = "*"
                b = {version = ">=1", extras = ["x"], markers = "python_version > '3.8'"}
                [dev-packages]
                c = "==2"
            """
        },
        {"a", "b[x]>=1;python_version>'3.8'", "c==2"},
    ),
    "nothing at all": ({"main.py": ""}, set()),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES.keys())
def test_dependencies_are_found(repository: Repository, files: dict[str, str], expected: set[str]) -> None:
    root = repository(files)
    found = read_all(root)
    places = {text.replace("{root}/../", f"{root.parent}/").replace("{root}", str(root)) for text in expected}
    assert texts(found) == places


def test_where_each_stands_and_what_it_is_for_is_known(repository: Repository) -> None:
    found = read_all(
        repository({"requirements.txt": "\na\n", "requirements-dev.txt": "b", "x-requirements.txt": "c"})
    )
    assert {(each.text, each.origin, each.role) for each in found.wanted} == {
        ("a", "requirements.txt:2", Role.RUN),
        ("b", "requirements-dev.txt:1", Role.TEST),
        ("c", "x-requirements.txt:1", Role.OTHER),
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[[tool.uv.index]]\nurl = 'https://inner/simple'\n"),
        ("pyproject.toml", "[[tool.pdm.source]]\nurl = 'https://inner/simple'\n"),
        ("pyproject.toml", "[[tool.poetry.source]]\nname = 'x'\nurl = 'https://inner/simple'\n"),
        ("Pipfile", "[[source]]\nurl='https://pypi.org/simple'\n[[source]]\nurl='https://inner/simple'\n"),
        ("requirements.txt", "--extra-index-url https://inner/simple\n"),
    ],
)
def test_an_index_of_their_own_is_queried_too(repository: Repository, name: str, text: str) -> None:
    assert read_all(repository({name: text})).index_options == ("--extra-index-url https://inner/simple",)


@pytest.mark.parametrize(
    ("bound", "meant"),
    [
        ("", ""),
        ("=1.26", "==1.26.*"),
        ("=1.26.*", "==1.26.*"),
        ("=1.26.4=py311_0", "==1.26.4.*"),
        ("==1.26.4", "==1.26.4"),
        ("==1.26.*", "==1.26.*"),
        ("==1.26.4=py311_0", "==1.26.4"),
        (" >=1.20,<2", ">=1.20,<2"),
    ],
)
def test_versions_are_read_as_conda_writes_them(repository: Repository, bound: str, meant: str) -> None:
    text = f"dependencies:\n  - numpy{bound}\n  - python{bound}\n"
    found = read_all(repository({"environment.yml": text}))
    assert [each.requirement for each in found.wanted] == [Requirement(f"numpy{meant}")]
    assert [each.specifier for each in found.python] == ([SpecifierSet(meant)] if meant else [])


def test_what_is_no_requirement_is_left_out_with_its_place(repository: Repository) -> None:
    (left,) = read_all(repository({"requirements.txt": "a\nnot one\n"})).left_out
    assert (left.text, left.origin) == ("not one", "requirements.txt:2")
    assert "not a requirement" in left.why


def test_what_setup_py_computes_is_said(repository: Repository) -> None:
    text = "from setuptools import setup\nsetup(install_requires=open('requirements.txt').read().split())\n"
    found = read_all(repository({"setup.py": text, "requirements.txt": "a"}))
    assert texts(found) == {"a"}
    assert [(left.text, left.origin) for left in found.left_out] == [("install_requires", "setup.py:2")]


def test_files_of_powershell_are_read(repository: Repository) -> None:
    root = repository({"requirements.txt": ""})
    (root / "requirements.txt").write_text("a==1\n", encoding="utf-16")
    assert texts(read_all(root)) == {"a==1"}


UV_LOCK = """
[[package]]
name = "a"
version = "1.0"
source = { registry = "https://index" }
[[package]]
name = "me"
version = "0.1"
source = { editable = "." }
[[package]]
name = "b"
version = "1"
source = { registry = "https://index" }
[[package]]
name = "b"
version = "2"
source = { registry = "https://index" }
"""
POETRY_LOCK = """
[[package]]
name = "a"
version = "1.0"
[[package]]
name = "g"
version = "1"
[package.source]
type = "git"
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", UV_LOCK),
        ("poetry.lock", POETRY_LOCK),
        ("pdm.lock", '[[package]]\nname = "a"\nversion = "1.0"\n'),
        ("Pipfile.lock", '{"default": {"a": {"version": "==1.0"}, "g": {"git": "x"}}}'),
    ],
)
def test_a_lock_gives_the_versions_of_what_comes_from_an_index(
    repository: Repository, name: str, text: str
) -> None:
    lock = read_all(repository({name: text})).lock
    assert lock is not None
    assert (lock.origin, lock.versions) == (name, {"a": "1.0"})


def test_a_file_in_another_encoding_that_is_not_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project", encoding="utf-16")
    with pytest.raises(ConfigurationError, match="PYPROJECT_INVALID"):
        read_all(tmp_path)


@pytest.mark.parametrize(
    ("files", "condition", "says"),
    [
        ({"pyproject.toml": "[project\n"}, "PYPROJECT_INVALID", "pyproject.toml"),
        ({"uv.lock": "<<<<<<< HEAD\n"}, "LOCK_INVALID", "Finish the merge"),
        ({"Pipfile.lock": "{"}, "LOCK_INVALID", "pipenv lock"),
        ({"setup.py": "def (:"}, "REQUIREMENTS_INVALID", "setup.py"),
        ({"setup.cfg": "no section"}, "REQUIREMENTS_INVALID", "setup.cfg"),
        ({"requirements.txt": "-r lost.txt"}, "REQUIREMENTS_NOT_FOUND", "requirements.txt names"),
        ({"pyproject.toml": "[project]\nrequires-python = 'new'"}, "PYTHON_INVALID", "`new`"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    repository: Repository, files: dict[str, str], condition: str, says: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read_all(repository(files))
    assert raised.value.condition == condition
    assert says in str(raised.value)
