"""What of a repository's wishes is granted: stand-ins, pins, Python, the ways to fill an environment."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lakeward.environments import build_plan
from lakeward.environments.build_plan import plan_environment
from lakeward.environments.building import provide_setuptools
from lakeward.environments.indexes import index_is_refused, uv_index_variables
from lakeward.environments.install_errors import install_error, is_about_versions
from lakeward.environments.installation import own_installation
from lakeward.environments.interpreters import Interpreter, choose_interpreter, relax_bounds
from lakeward.environments.model import Declarations, DeclaredRequirement, LeftOut, Lock, PythonWanted, Role
from lakeward.environments.pin_overrides import are_compatible, reconcile_pins, relax_lock
from lakeward.environments.preparation import missing_plugins
from lakeward.environments.provided_packages import SETUPTOOLS, STAND_INS
from lakeward.environments.repository import (
    has_pipelines_of_dlt,
    has_tests,
    is_package,
    projects_below,
    python_release,
    repository_root,
)
from lakeward.environments.runtime import pinned_runtime
from lakeward.errors import ConfigurationError, SetupError
from lakeward.session import Settings

Repository = Callable[[Mapping[str, str]], Path]
OWN = [Requirement("pandas>=2.2,<3"), Requirement("pyspark==4.2.0"), Requirement("rich>=13.9")]


def requirements(*texts: str, role: Role = Role.RUN) -> list[DeclaredRequirement]:
    return [DeclaredRequirement(text, "here:1", role, Requirement(text)) for text in texts]


@pytest.mark.parametrize("name", [*STAND_INS, "Delta_Spark"])
def test_what_lakeward_provides_is_left_out_with_the_reason(name: str) -> None:
    done = reconcile_pins(requirements(f"{name}>=1", "requests"), OWN)
    instead = STAND_INS[canonicalize_name(name)].instead
    assert [each.text for each in done.wanted] == [*instead, "requests"]
    assert [(each.text, each.origin) for each in done.left_out] == [(f"{name}>=1", "here:1")]
    assert done.left_out[0].why


PARTS = ("py==1.9.0", "pluggy==0.13.1", "attrs==19.3.0", "iniconfig==1.0.1", "importlib_metadata==1.7.0")


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_a_pytest_that_is_relaxed_lose_their_pins(part: str) -> None:
    own = [*OWN, Requirement("pytest>=7")]
    done = reconcile_pins(requirements("pytest==5.4.3", part, "six==1.15.0"), own)
    name = Requirement(part).name
    assert [each.text for each in done.wanted] == ["pytest", name, "six==1.15.0"]
    assert len(done.relaxed) == 2 and done.relaxed[1].startswith(f"{part} (here:1) became {name}: ")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("pytest_pin", ["pytest==8.3.0", "pytest", "pytest-cov==2.0"])
def test_parts_of_another_pytest_keep_them(part: str, pytest_pin: str) -> None:
    own = [*OWN, Requirement("pytest>=7"), Requirement("pytest-cov>=4")]
    done = reconcile_pins(requirements(pytest_pin, part), own)
    assert done.wanted[1].text == part


def test_bounds_of_parts_of_pytest_that_are_no_pins_stay() -> None:
    done = reconcile_pins(requirements("pytest==5.4.3", "py>=1.5", "attrs==19.*"), [Requirement("pytest>=7")])
    assert [each.text for each in done.wanted] == ["pytest", "py>=1.5", "attrs==19.*"]


def test_the_extras_of_spark_and_the_sdk_of_databricks_connect_come_all_the_same() -> None:
    done = reconcile_pins(
        requirements("pyspark[connect,sql]>=3.5 ; python_version > '3.8'", "databricks-connect"), OWN
    )
    assert [each.text for each in done.wanted] == [
        'pyspark[connect,sql]==4.2.0 ; python_version > "3.8"',
        *("databricks-sdk", "grpcio", "grpcio-status", "googleapis-common-protos", "zstandard"),
    ]


def test_pins_that_exclude_lakewards_versions_are_relaxed_and_others_kept() -> None:
    done = reconcile_pins(
        requirements("pandas[excel]==1.5.3 ; python_version > '3.8'", "rich==13.9.4", "pandas~=2.1"), OWN
    )
    assert [each.text for each in done.wanted] == [
        'pandas[excel] ; python_version > "3.8"',
        "rich==13.9.4",
        "pandas~=2.1",
    ]
    (sentence,) = done.relaxed
    assert sentence == "pandas==1.5.3 (here:1) became pandas<3,>=2.2: lakeward needs that"


@pytest.mark.parametrize("pin", ["sqlglot==22.5.0", "sqlglot<23.0,>=21.0", "sqlglot~=25.1", "SQLGlot<26"])
def test_a_relaxed_pin_of_sqlglot_stays_near_to_the_one_that_was_declared(pin: str) -> None:
    own = [*OWN, Requirement("sqlglot>=26")]
    done = reconcile_pins(requirements(f"{pin} ; python_version > '3.8'"), own)
    name = Requirement(pin).name
    assert [each.text for each in done.wanted] == [f'{name}<27 ; python_version > "3.8"']
    (sentence,) = done.relaxed
    assert sentence.endswith(" became sqlglot<27,>=26: lakeward needs that")
    assert reconcile_pins(requirements("sqlglot>=20", "sqlglot==28.1"), own).relaxed == ()


def test_versions_of_a_lock_hold_but_for_those_that_cannot() -> None:
    lock = Lock(
        "uv.lock", {"pandas": "1.5.3", "rich": "13.9.4", "pyspark": "3.5.0", "py4j": "0.10", "x": "1"}
    )
    kept, relaxed = relax_lock(lock, OWN)
    assert kept == {"rich": "13.9.4", "x": "1"}
    assert relaxed == ("pandas==1.5.3 (uv.lock) became pandas<3,>=2.2: lakeward needs that",)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", "", True),
        ("", ">=2.2,<3", True),
        ("==1.5.3", ">=2.2,<3", False),
        ("==2.2.*", ">=2.2,<3", True),
        (">1,<2.2", ">=2.2,<3", False),
        (">1,<=2.2", ">=2.2,<3", True),
        ("!=2.2", ">=2.2,<3", True),
        (">=3", ">=2.2,<3", False),
        ("<3", ">2.99", True),
        (">=3.10", ">=3.10", True),
        ("==3.11.*", ">=3.10", True),
        ("<3.10", ">=3.10", False),
        ("~=3.9.0", ">=3.10", False),
    ],
)
def test_two_bounds_are_compatible_when_some_version_satisfies_both(
    first: str, second: str, expected: bool
) -> None:
    assert are_compatible(SpecifierSet(first), SpecifierSet(second)) is expected
    assert are_compatible(SpecifierSet(second), SpecifierSet(first)) is expected


HERE = Interpreter(Path(sys.executable), "3.11.7", running=True)
BOUND = SpecifierSet(">=3.10")


def python(text: str) -> list[PythonWanted]:
    return [PythonWanted(SpecifierSet(text), "pyproject.toml requires-python")]


@pytest.mark.parametrize(
    "text", [">=3.8", "", "==3.11.4", ">=3.11.9,<4", "==3.11.*", "==3.11", "<=3.11", "===3.11"]
)
def test_the_running_python_is_used_where_it_will_do(text: str) -> None:
    assert choose_interpreter(python(text), BOUND, uv=None, environ={"PATH": ""}, here=HERE) is HERE


def test_another_python_of_the_machine_is_found(tmp_path: Path) -> None:
    fake = tmp_path / "python3.12"
    fake.write_text("#!/bin/sh\necho 3.12.1\n")
    fake.chmod(0o755)
    found = choose_interpreter(python(">=3.12"), BOUND, uv=None, environ={"PATH": str(tmp_path)}, here=HERE)
    assert (found.path, found.version, found.running) == (fake, "3.12.1", False)


@pytest.mark.parametrize(
    ("file", "wanted", "chosen"),
    [
        ("3.13.2\n", ">=3.12", "3.13"),
        ("# pyenv\ncpython-3.13\n", ">=3.12", "3.13"),
        ("3.13", ">=3.12,<3.13", "3.12"),  # the declared bound decides
        ("3.14", ">=3.12", "3.12"),  # not on the machine
        ("3.9", ">=3.12", "3.12"),
        ("system\n", ">=3.12", "3.12"),
        (None, ">=3.12", "3.12"),
        ("3.13", ">=3.10", "3.11"),  # the running one satisfies the bound
    ],
)
def test_the_release_of_python_version_comes_before_others(
    tmp_path: Path, file: str | None, wanted: str, chosen: str
) -> None:
    for minor in (12, 13):
        fake = tmp_path / f"python3.{minor}"
        fake.write_text(f"#!/bin/sh\necho 3.{minor}.1\n")
        fake.chmod(0o755)
    if file is not None:
        (tmp_path / ".python-version").write_text(file)
    environ, preferred = {"PATH": str(tmp_path)}, python_release(tmp_path)
    found = choose_interpreter(
        python(wanted), BOUND, uv=None, preferred=preferred, environ=environ, here=HERE
    )
    assert found.version.rpartition(".")[0] == chosen


def test_without_a_python_that_will_do_the_cure_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        SetupError, match=r"PYTHON_NOT_FOUND.*>=3\.13 \(pyproject.*this is 3\.11\.7.*install uv"
    ):
        choose_interpreter(python(">=3.13"), BOUND, uv=None, environ={"PATH": str(tmp_path)}, here=HERE)


@pytest.mark.parametrize("bound", [">=3.8,<3.10", "==3.9.*", "==3.8.10", "<3.10", "~=3.8.0"])
def test_a_bound_below_lakewards_is_relaxed_and_others_stay(bound: str) -> None:
    requested = (*python(bound), *python(">=3.8"), *python("<3.13"))
    kept, relaxed = relax_bounds(requested, BOUND)
    assert kept == requested[1:]
    (sentence,) = relaxed
    assert sentence.endswith(f"became {BOUND}: lakeward needs that")
    assert choose_interpreter(kept, BOUND, uv=None, environ={"PATH": ""}, here=HERE) == HERE


def test_bounds_of_a_repository_that_exclude_each_other_are_named() -> None:
    requested = (*python(">=3.12"), *python("<3.11"))
    assert relax_bounds(requested, BOUND) == (requested, ())
    with pytest.raises(ConfigurationError, match=r"PYTHON_CONFLICT.*>=3\.12 .* and <3\.11 .*needs >=3\.10"):
        choose_interpreter(requested, BOUND, uv=None, environ={"PATH": ""}, here=HERE)


@pytest.mark.parametrize("other", ["==3.10.*", "<3.11", "~=3.10.4"])
@pytest.mark.parametrize("further", ["environment.yml python", "Pipfile python_version"])
def test_a_further_file_that_excludes_the_first_one_is_not_used(other: str, further: str) -> None:
    first = PythonWanted(SpecifierSet(">=3.11,<4.0"), "pyproject.toml requires-python")
    kept, relaxed = relax_bounds((first, PythonWanted(SpecifierSet(other), further)), BOUND)
    assert kept == (first,)
    (sentence,) = relaxed
    assert f"({further}) is not used: " in sentence and sentence.endswith(
        "(pyproject.toml requires-python) excludes it"
    )
    assert choose_interpreter(kept, BOUND, uv=None, environ={"PATH": ""}, here=HERE) == HERE


def test_a_further_file_that_agrees_is_used() -> None:
    first = PythonWanted(SpecifierSet(">=3.11,<4.0"), "pyproject.toml requires-python")
    second = PythonWanted(SpecifierSet("==3.11.*"), "environment.yml python")
    assert relax_bounds((first, second), BOUND) == ((first, second), ())


def test_everything_is_tried_first_then_without_the_lock_then_without_other_extras(tmp_path: Path) -> None:
    found = Declarations(
        (
            *requirements("a"),
            *requirements("b", role=Role.TEST),
            DeclaredRequirement("c", "extra c", Role.OTHER, Requirement("c")),
        ),
        index_options=("--extra-index-url https://inner",),
        lock=Lock("uv.lock", {"a": "1"}),
    )
    attempts = plan_environment(found, tmp_path, own_installation(), HERE).attempts
    against = "what packages ask of each other against the direct requirements"
    assert [(each.requirements[-3:], each.constraints, each.without) for each in attempts] == [
        (("a", "b", "c"), ("a==1",), ""),
        (("a", "b", "c"), (), "the versions of uv.lock"),
        (("a", "b", "c"), (), f"{against} and the versions of uv.lock"),
        (("pytest>=7", "a", "b"), ("a==1",), "extra c"),
        (("pytest>=7", "a", "b"), (), "the versions of uv.lock and extra c"),
        (("pytest>=7", "a", "b"), (), f"{against} and the versions of uv.lock and extra c"),
    ]
    assert [bool(each.overrides) for each in attempts] == [False, False, True] * 2
    assert all(each.requirements[0] == "--extra-index-url https://inner" for each in attempts)
    assert f"lakeward=={own_installation().version}" in attempts[0].requirements


def test_a_pytest_that_the_plugin_cannot_run_in_is_replaced(tmp_path: Path) -> None:
    """The plugin keeps its state in the stash of the configuration, which pytest has since 7.0."""
    found = Declarations(
        tuple(requirements("pytest==5.2.*", "a")), lock=Lock("poetry.lock", {"pytest": "5.2.4"})
    )
    planned = plan_environment(found, tmp_path, own_installation(), HERE)
    assert planned.relaxed == (
        "pytest==5.2.* (here:1) became pytest>=7: lakeward needs that",
        "pytest==5.2.4 (poetry.lock) became pytest>=7: lakeward needs that",
    )
    assert planned.attempts[0].requirements[-3:] == ("pytest>=7", "pytest", "a")
    kept = plan_environment(
        Declarations(tuple(requirements("pytest==7.4.4"))), tmp_path, own_installation(), HERE
    )
    assert kept.relaxed == () and kept.attempts[0].requirements[-2:] == ("pytest>=7", "pytest==7.4.4")


def test_exact_pins_become_lower_bounds_before_extras_are_given_up(tmp_path: Path) -> None:
    found = Declarations(
        (
            *requirements("a[x]==1.2 ; python_version > '3.8'", "b==2.*,!=2.1", "c>=1", "d"),
            DeclaredRequirement("-e ./libs/e", "here:2"),
            DeclaredRequirement("f===3", "extra f:1", Role.OTHER, Requirement("f===3")),
        ),
        constraints=tuple(requirements("g==1")),
    )
    attempts = plan_environment(found, tmp_path, own_installation(), HERE).attempts
    exact = "the exact versions of here, extra f (newer ones are installed)"
    assert [each.without for each in attempts[1:3]] == [
        "what packages ask of each other against the direct requirements",
        exact,
    ]
    assert attempts[-1].without == f"{exact} and extra f"
    loose = attempts[2]
    assert loose.requirements[-6:] == (
        'a[x]>=1.2; python_version > "3.8"',
        "b!=2.1,>=2",
        *("c>=1", "d", "-e ./libs/e", "f>=3"),
    )
    assert (loose.constraints, loose.overrides) == ((), ())


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["pyspark"], "pyspark==4.2.0"),
        (["pyspark[connect]>=3.5; python_version >= '3.9'"], "pyspark[connect]==4.2.0"),
        (["pyspark[sql,ml]==3.5.0", "PySpark[Connect]"], "pyspark[Connect,ml,sql]==4.2.0"),
        (["pyspark[connect] ; python_version < '3.0'", "pyspark[sql]"], "pyspark[sql]==4.2.0"),
    ],
)
def test_the_override_of_spark_has_the_extras_that_are_requested(
    tmp_path: Path, wanted: list[str], expected: str
) -> None:
    """An override of uv replaces the extras of direct requirements, too."""
    planned = plan_environment(Declarations(tuple(requirements(*wanted))), tmp_path, own_installation(), HERE)
    (found,) = (each for each in planned.overrides if Requirement(each).name == "pyspark")
    assert found == expected


def test_overrides_for_conflicts_have_the_extras_that_are_requested(tmp_path: Path) -> None:
    wanted = requirements("a[x]", "a[y]>=1", "a<3", "pandas[excel]>=2", "fastavro[codecs]")
    found = set(build_plan.find_overrides(own_installation(), wanted))
    names = {Requirement(each).name: Requirement(each).extras for each in found}
    assert names["a"] == {"x", "y"} and names["pandas"] == {"excel"}
    assert names["fastavro"] >= {"codecs"}


def test_the_key_changes_with_what_is_installed_and_with_nothing_else(repository: Repository) -> None:
    project = "[build-system]\nrequires=[]\n[project]\nname='p'\nversion='1'\n"
    root = repository({"pyproject.toml": project})

    def key(found: Declarations = Declarations(), interpreter: Interpreter = HERE) -> str:  # noqa: B008  # both are frozen
        return plan_environment(found, root, own_installation(), interpreter).key

    first = key()
    (root / "pyproject.toml").write_text(
        project + "[tool.ruff]\nline-length=100\n[tool.pytest.ini_options]\n"
    )
    assert key() == first
    assert key(Declarations(tuple(requirements("a")))) != first
    assert key(Declarations(lock=Lock("uv.lock", {"a": "1"}))) != first
    assert key(interpreter=Interpreter(HERE.path, "3.12.1")) != first
    # An environment that a version with other packages of its own made is not found.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_plan, "SETUPTOOLS", "")
        assert key() != first
    (root / "pyproject.toml").write_text(project.replace("'1'", "'2'"))
    assert key() != first


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.py": "import dlt\n@dlt.table\ndef a(): ..."}, True),
        ({"src/a.py": "import dlt\ndlt.create_streaming_table('a')"}, True),
        ({"a.py": "from dlt import table, view"}, True),
        ({"a.ipynb": '{"source": ["import dlt\\n", "@dlt.expect_all_or_drop({})"]}'}, True),
        ({"a.py": "import dlt\np = dlt.pipeline('a')"}, False),
        ({"a.py": "import dlt\n@dlt.resource\ndef a(): ..."}, False),
        ({"a.py": "from dlt.sources.helpers import requests\n# dlt.table"}, False),
        ({"a.py": "from dlt import pipeline"}, False),
        # Both are used: PyPI's one cannot be replaced.
        ({"a.py": "import dlt\n@dlt.table\ndef a(): ...", "b.py": "import dlt\ndlt.pipeline('a')"}, False),
        ({"a.py": "dlt.table", "venv/a.py": "import dlt\n@dlt.table\ndef a(): ..."}, False),
        ({"a.md": "import dlt; dlt.table"}, False),
    ],
)
def test_pipelines_of_dlt_are_distinguished_from_the_package_of_that_name(
    repository: Repository, files: dict[str, str], expected: bool
) -> None:
    assert has_pipelines_of_dlt(repository(files)) is expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tests/test_a.py": ""}, True),
        ({"a/b/x_test.py": ""}, True),
        ({"main.py": "", ".venv/lib/test_x.py": "", "node_modules/test_x.py": ""}, False),
        ({"checks/a_spec.py": "", "pytest.ini": "[pytest]\npython_files = *_spec.py"}, True),
        # pytest warns, and looks everywhere.
        ({"src/test_a.py": "", "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths=['tests']"}, True),
        ({"a/test_a.py": "", "tests/b.py": "", "pytest.ini": "[pytest]\ntestpaths = tests\n"}, False),
        ({"a/tests/test_a.py": "", "pytest.ini": "[pytest]\ntestpaths = */tests\n"}, True),
        (
            {"a/b/tests/test_a.py": "", "c.py": "", "pytest.ini": "[pytest]\ntestpaths = c.py a/**/tests"},
            True,
        ),
        ({"a/lib/test_a.py": "", "b/tests/c.py": "", "pytest.ini": "[pytest]\ntestpaths = */tests\n"}, False),
        ({"src/a.py": "", "setup.cfg": "[tool:pytest]\naddopts = --doctest-modules"}, True),
    ],
)
def test_a_repository_has_tests_when_pytest_would_look_at_a_file(
    repository: Repository, files: dict[str, str], expected: bool
) -> None:
    assert has_tests(repository(files)) is expected


@pytest.mark.parametrize(
    ("addopts", "arguments", "expected"),
    [
        ("--cov=src --cov-report 'term missing' -q", (), ["pytest-cov"]),
        (["-ra", "--asyncio-mode=auto"], ("-n", "auto"), ["pytest-asyncio", "pytest-xdist"]),
        ("-n4", ("-x", "-k", "cov"), ["pytest-xdist"]),
        ("--timeout 3 'unclosed", (), []),
        (None, ("--no-header", "-no", "tests"), []),
    ],
)
def test_plugins_that_the_options_need_are_added(
    addopts: object, arguments: tuple[str, ...], expected: list[str]
) -> None:
    found = missing_plugins({"addopts": addopts}, arguments, [])
    assert [each.text for each in found] == expected
    assert missing_plugins({"addopts": addopts}, arguments, requirements(*expected)) == ()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pyproject.toml": "[project]\nname='a'"}, False),
        ({"pyproject.toml": "[project]\nname='a'\n[build-system]\nrequires=[]"}, True),
        (
            {"pyproject.toml": "[build-system]\nrequires=[]\n[tool.poetry]\nname='a'\npackage-mode=false"},
            False,
        ),
        ({"pyproject.toml": "[build-system]\nrequires=[]\n[tool.poetry]\nname='a'"}, True),
        ({"setup.py": ""}, True),
        ({"requirements.txt": ""}, False),
    ],
)
def test_a_repository_is_a_package_when_its_own_tool_would_install_it(
    repository: Repository, files: dict[str, str], expected: bool
) -> None:
    assert is_package(repository(files)) is expected


def test_the_repository_begins_at_the_nearest_project_file(repository: Repository) -> None:
    root = repository({"one/pyproject.toml": "", "one/tests/unit/x": "", "two/x": ""})
    assert repository_root(root / "one" / "tests" / "unit") == root / "one"
    assert repository_root(root / "two") == root


TESTED, UNTESTED = {"src/a/pyproject.toml": "", "src/a/tests/test_x.py": ""}, {"b/setup.py": "", "b/x.py": ""}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (TESTED, ["src/a"]),
        ({**TESTED, "c/requirements.txt": "", "c/x_test.py": ""}, ["c", "src/a"]),
        ({**TESTED, **UNTESTED}, ["src/a"]),
        ({**TESTED, "src/a/tests/requirements.txt": ""}, ["src/a"]),
        ({**TESTED, "pyproject.toml": ""}, []),
        ({**TESTED, "requirements.txt": "pandas"}, []),
        ({"tests/test_x.py": ""}, []),
        ({"node_modules/a/setup.py": "", "node_modules/a/test_x.py": ""}, []),
    ],
)
def test_projects_with_tests_below_a_folder_without_a_project_file_are_named(
    repository: Repository, files: dict[str, str], expected: list[str]
) -> None:
    root = repository(files)
    assert [str(each.relative_to(root)) for each in projects_below(root)] == expected


UV_CONFLICT = """
  × No solution found when resolving dependencies:
  ╰─▶ Because thing==1.0 depends on rich<1 and you require
      rich>=13.9, we can conclude that your requirements are unsatisfiable.
"""


@pytest.mark.parametrize(
    ("output", "condition", "says"),
    [
        (UV_CONFLICT, "DEPENDENCIES_CONFLICT", "thing==1.0 depends on rich<1 and you require rich>=13.9"),
        ("OSError: [Errno 28] No space left on device", "CACHE_NO_SPACE", "LAKEWARD_CACHE"),
        ("failed to copy file: No space left on device (os error 28)", "CACHE_NO_SPACE", "LAKEWARD_CACHE"),
        (
            "Failed to establish a new connection: [Errno 111] Connection refused",
            "INDEX_NOT_REACHABLE",
            "PIP_INDEX_URL",
        ),
        (
            "error: Failed to fetch: `https://x`\n  Caused by: dns error",
            "INDEX_NOT_REACHABLE",
            "UV_DEFAULT_INDEX",
        ),
        ("ProxyError('Cannot connect to proxy.')", "INDEX_NOT_REACHABLE", "HTTPS_PROXY"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED]", "INDEX_CERTIFICATE_NOT_TRUSTED", "SSL_CERT_FILE"),
        ("invalid peer certificate: UnknownIssuer", "INDEX_CERTIFICATE_NOT_TRUSTED", "SSL_CERT_FILE"),
        ("401 Client Error: Unauthorized for url", "INDEX_REFUSED", "PIP_INDEX_URL"),
        ("ERROR: No matching distribution found for old==0.1", "DEPENDENCY_NOT_FOUND", "old==0.1"),
        ("cause: Because gone was not found in the index", "DEPENDENCY_NOT_FOUND", "--without PACKAGE"),
        ("error: Failed to build `old==0.1`", "DEPENDENCY_NOT_BUILT", "old==0.1"),
        ("Something else\nERROR: it rains", "INSTALL_FAILED", "it rains"),
    ],
)
def test_what_uv_prints_becomes_one_sentence(output: str, condition: str, says: str) -> None:
    error = install_error(output, Path("/cache/x"))
    assert error.condition == condition
    assert says in str(error)
    assert "\n" not in str(error)
    assert is_about_versions(error) == condition.startswith("DEPENDENC")


HIDDEN = "hidden @ git+https://host/x/hidden.git@v1"
FETCH = (
    "process didn't exit successfully: `/usr/bin/git fetch --force 'https://host/x/h.git' 'v1'` (exit: 128)"
)
GIT_FAILURES = {
    "connection": [
        "failed to clone into: /c/git-v2/db/1",
        f"{FETCH}\n--- stderr\nfatal: unable to access 'https://host/x/': Failed to connect to host port 9",
    ],
    "access": [
        f"failed to fetch tag `v1`\n{FETCH}\n--- stderr\nfatal: could not read Username for 'https://host'"
    ],
    "branch": [f"failed to fetch tag `v1`\n{FETCH}\n--- stderr\nfatal: couldn't find remote ref v1"],
    "offline": ["Remote Git fetches are not allowed because network connectivity is disabled"],
    "program": ["Git executable not found. Ensure that Git is installed and available."],
}
GIT_REASONS = {
    "connection": "Failed to connect to host",
    "access": "could not read Username",
    "branch": "couldn't find remote ref v1",
    "offline": "network connectivity is disabled",
    "program": "Git executable not found",
}


def framed(errors: list[str], width: int) -> str:
    """Return a chain of errors as uv before 0.13 prints it: in a frame, wrapped at `width`."""
    lines = []
    for number, error in enumerate(errors):
        marks = "  × " if not number else "  ╰─▶ " if number == len(errors) - 1 else "  ├─▶ "
        margin = "  │ " if number < len(errors) - 1 else "      "
        for text in error.split("\n"):
            lines += textwrap.wrap(
                text, width, initial_indent=marks, subsequent_indent=margin, break_long_words=False
            )
            marks = margin
    return "\n".join(lines)


def indented(errors: list[str], _: int) -> str:
    """Return a chain of errors as uv 0.13 prints it."""
    first, *causes = errors
    return "\n".join(
        [f"error: {first}", *(f"  cause: {cause}".replace("\n", "\n         ") for cause in causes)]
    )


@pytest.mark.parametrize("package", [True, False], ids=["named", "anonymous"])
@pytest.mark.parametrize("width", [40, 80, 1000])
@pytest.mark.parametrize("form", [framed, indented])
@pytest.mark.parametrize("failure", GIT_FAILURES)
def test_a_failure_of_git_is_one_in_every_form_of_uv(
    failure: str, form: Callable[[list[str], int], str], width: int, package: bool
) -> None:
    chain = ["Git operation failed", *GIT_FAILURES[failure]]
    if package:
        chain.insert(0, f"Failed to download and build `{HIDDEN}`")
    error = install_error(form(chain, width), Path("/cache/x"))
    assert error.condition == ("GIT_NOT_FOUND" if failure == "program" else "GIT_NOT_REACHABLE")
    assert GIT_REASONS[failure] in str(error)
    assert (HIDDEN in str(error)) == package


@pytest.mark.parametrize("width", [40, 80, 1000])
@pytest.mark.parametrize("form", [framed, indented])
def test_a_failed_build_from_a_git_repository_is_no_failure_of_git(
    form: Callable[[list[str], int], str], width: int
) -> None:
    chain = [f"Failed to build `{HIDDEN}`", "The build backend returned an error", "Call to `x` failed"]
    error = install_error(form(chain, width), Path("/cache/x"))
    assert (error.condition, HIDDEN in str(error)) == ("DEPENDENCY_NOT_BUILT", True)


@pytest.mark.parametrize("width", [40, 1000])
@pytest.mark.parametrize("form", [framed, indented])
@pytest.mark.parametrize(
    "printed",
    [
        "urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>",
        "urllib.error.HTTPError: HTTP Error 403: Forbidden\n403 Client Error: Forbidden for url",
        "[SSL: CERTIFICATE_VERIFY_FAILED]",
    ],
)
def test_a_build_script_that_downloads_is_no_failure_of_the_index(
    form: Callable[[list[str], int], str], width: int, printed: str
) -> None:
    chain = ["Failed to build `old==0.1`", "The build backend returned an error", "Call to `x` failed"]
    error = install_error(f"{form(chain, width)}\n\n      [stderr]\n{printed}", Path("/cache/x"))
    assert (error.condition, "old==0.1" in str(error)) == ("DEPENDENCY_NOT_BUILT", True)
    assert is_about_versions(error)


@pytest.mark.parametrize("form", [framed, indented])
def test_a_build_whose_requirements_cannot_be_fetched_is_a_failure_of_the_index(
    form: Callable[[list[str], int], str],
) -> None:
    chain = ["Failed to build `old==0.1`", "Failed to resolve requirements from `build-system.requires`"]
    error = install_error(form([*chain, "error sending request"], 1000), Path("/cache/x"))
    assert error.condition == "INDEX_NOT_REACHABLE"


def test_uv_gets_the_settings_of_pip(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://mirror/simple\nextra-index-url = https://a\n  https://b\n"
        "[install]\nno-index = yes\n"
    )
    environ = {
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": str(tmp_path / "pip.conf"),
        "PIP_FIND_LINKS": "/a /b",
    }
    document = uv_index_variables(environ)
    assert {key: document.get(key) for key in ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_FIND_LINKS")} == {
        "UV_DEFAULT_INDEX": "https://mirror/simple",
        "UV_INDEX": "https://a https://b",
        "UV_FIND_LINKS": "/a,/b",
    }
    assert index_is_refused(environ)
    assert not index_is_refused({**environ, "PIP_NO_INDEX": "0"})
    assert "UV_DEFAULT_INDEX" not in uv_index_variables({**environ, "UV_INDEX_URL": "https://own"})


def test_nothing_of_it_loads_spark() -> None:
    code = "import sys, lakeward.environments; assert not {'pyspark', 'pandas', 'rich'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))


@pytest.mark.parametrize(
    ("pins", "lock", "runtime"),
    [
        (["databricks-connect>=15,<16"], {}, "15.4"),
        (["databricks-connect==17.3.12"], {}, "17.3"),
        (["pyspark>=3.4,<4"], {}, "16.4"),
        (["pyspark[connect]==3.4.1 ; python_version > '3.8'", "pyspark>=3.2"], {}, "13.3"),
        (["pyspark==4.0.0", "delta-spark==4.0.0"], {}, "17.3"),
        (["pyspark<4", "databricks-connect==15.4.*"], {}, "15.4"),
        (["pyspark>=3.4"], {"pyspark": "3.5.5"}, "16.4"),
        ([], {"pyspark": "3.5.5"}, "16.4"),
        (["pyspark>=3.4"], {}, None),
        (["pyspark==2.4.8"], {}, "13.3"),
        (["pyspark==3.3.2"], {}, "13.3"),
        (["pyspark~=3.2.0"], {}, "13.3"),
        (["pyspark>=3,<3.3"], {}, "13.3"),
        ([], {"pyspark": "3.3.2"}, "13.3"),
        (["pyspark==3.3.2", "pyspark==3.2.1"], {}, "13.3"),
        (["databricks-connect==9.1.55"], {}, "13.3"),
        (["databricks-connect==15.1.0"], {}, "15.4"),
        (["databricks-connect==16.1.*"], {}, "16.4"),
        (["databricks-connect==17.0.1"], {}, "17.3"),
        (["databricks-connect==18.4.0"], {}, None),
        (["databricks-connect==99.1"], {}, None),
        (["pyspark==9.0"], {}, None),
        (["pyspark>=9"], {}, None),
        (["pyspark==3.5.1", "pyspark==4.0.0"], {}, None),
        (["requests<2"], {"requests": "1"}, None),
    ],
)
def test_pins_on_spark_tell_which_runtime_a_repository_is_for(
    pins: list[str], lock: dict[str, str], runtime: str | None
) -> None:
    found = pinned_runtime([LeftOut(pin, "here:1", "") for pin in pins], Lock("uv.lock", lock))
    assert (found.runtime if found else None) == runtime


def test_a_pinned_runtime_yields_to_one_that_is_named(tmp_path: Path) -> None:
    pinned = {"LAKEWARD_PINNED_RUNTIME": "16.4"}
    assert Settings.here(tmp_path, environ=pinned).profile == "16.4"
    assert Settings.here(tmp_path, environ=pinned, profile="serverless").profile == "serverless"
    (tmp_path / "pyproject.toml").write_text('[tool.lakeward]\nruntime = "15.4"\n')
    assert Settings.here(tmp_path, environ=pinned).profile == "15.4"


class _Installs:
    """An installer that keeps what it is given, and fails with `error`."""

    def __init__(self, error: SetupError | None = None) -> None:
        self.given: list[str] = []
        self._error = error

    def install(self, folder: Path, requirements: Path, *options: str) -> None:
        self.given += requirements.read_text().split()
        if self._error is not None:
            raise self._error


@pytest.mark.parametrize(
    ("installed", "given"),
    [(None, [SETUPTOOLS]), ("setuptools", []), ("Setuptools", []), ("chispa", [SETUPTOOLS])],
)
def test_setuptools_is_there_as_in_every_runtime(
    tmp_path: Path, installed: str | None, given: list[str]
) -> None:
    if installed:
        about = tmp_path / f"{installed}-82.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {installed}\nVersion: 82.0\n")
    installer = _Installs()
    provide_setuptools(tmp_path, tmp_path, installer, print)  # type: ignore[arg-type]
    assert installer.given == given


def test_an_index_without_setuptools_is_reported_and_is_no_error(tmp_path: Path) -> None:
    said: list[str] = []
    installer = _Installs(SetupError("INSTALL_FAILED", "not found"))
    provide_setuptools(tmp_path, tmp_path, installer, said.append)  # type: ignore[arg-type]
    assert said == ["without setuptools, which the runtimes have: not found"]
