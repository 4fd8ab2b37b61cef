"""Packages on top of lakeward's environment: what a layer holds, and what is said when it cannot be made."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from lakeward.environments import Layer, Layers, active
from lakeward.errors import LakewardError
from tests.environments.conftest import make_wheel
from tests.environments.index import use_folder_index
from tests.trees import write_files

pytestmark = pytest.mark.process

RICH = metadata.version("rich")
WHEELS = {
    ("tiny", "1.0"): (),
    ("tiny", "1.1"): (),
    ("helper", "1.0"): ("tiny<1.1", "pyspark<3", "delta-spark", "databricks-connect>=15", "rich"),
    ("picky", "1.0"): ("tiny<1.1",),
    ("old_console", "1.0"): ("rich<1",),
    # Represents what lakeward has already, in another version.
    ("rich", "1.0"): (),
    ("numpy", "1.26.4"): (),
    ("pyarrow", "23.0.0"): (),
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("machine")
    patch = pytest.MonkeyPatch()
    use_folder_index(patch, folder, WHEELS)
    yield folder  # type: ignore[misc]
    patch.undo()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def layer(machine: Path, said: list[str], tmp_path: Path) -> Callable[..., Layer | None]:
    return lambda *lines: Layers(say=said.append).get(lines, origin="The task `a`", folder=tmp_path)


def ran(layer: Layer | None, code: str) -> str:
    assert layer is not None
    done = subprocess.run(
        [layer.python, "-c", code], capture_output=True, text=True, env=layer.environ(), check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def installed(layer: Layer | None) -> set[str]:
    assert layer is not None
    return {
        f"{each.metadata['Name']}=={each.version}" for each in metadata.distributions(path=[str(layer.site)])
    }


def test_a_layer_has_its_own_packages_first_and_lakewards_behind_them(
    layer: Callable[..., Layer | None],
) -> None:
    code = "import tiny, lakeward, pyspark, sys; print(tiny.__version__, pyspark.__version__, sys.prefix)"
    one = layer("tiny==1.0")
    assert ran(one, code) == f"1.0 4.2.0 {one.folder}"  # type: ignore[union-attr]


def test_packages_of_packages_come_and_what_lakeward_has_or_provides_does_not(
    layer: Callable[..., Layer | None],
) -> None:
    assert installed(layer("helper")) == {"helper==1.0", "tiny==1.0"}


def test_what_is_installed_already_needs_no_layer(
    layer: Callable[..., Layer | None], said: list[str]
) -> None:
    assert layer("rich", "pandas>=2", "# a comment", "", "tiny; python_version < '3'") is None
    assert said == []


def test_stand_ins_and_pins_that_lakeward_excludes_are_said(
    layer: Callable[..., Layer | None], said: list[str]
) -> None:
    assert layer("pyspark==3.5.0", "pandas==1.5.3") is None
    assert said[0].startswith("The task `a`: pyspark==3.5.0 is not installed: lakeward brings Spark")
    assert said[1].startswith("The task `a`: relaxed pandas==1.5.3")


def test_the_same_packages_are_built_once(layer: Callable[..., Layer | None], machine: Path) -> None:
    first = layer("tiny==1.1")
    before = sorted((machine / "cache" / "layers").iterdir())
    assert layer("  tiny==1.1 ", "# again") == first
    assert sorted((machine / "cache" / "layers").iterdir()) == before
    assert layer("tiny==1.0") != first


@pytest.mark.parametrize(
    "line",
    ["./libs/extra-1.0-py3-none-any.whl", "./libs/*.whl", "libs/*.whl", "-r ./needs.txt", "-r needs.txt",
     "--requirement needs.txt", "-e ./project", "--editable ./project", "./project",
     # Workspace paths are found in the repository, by their end.
     "/Workspace/Users/ann@b.c/shop/libs/extra-1.0-py3-none-any.whl", "/Repos/ann/shop/libs/*.whl",
     "-r /Workspace/Shared/needs.txt", "-r=/Repos/ann/shop/needs.txt", "-e /Users/ann@b.c/shop/project",
     "/Workspace/Users/ann@b.c/project", "/Workspace/REPOSITORY/project"],
)  # fmt: skip
def test_every_spelling_of_a_local_package(
    layer: Callable[..., Layer | None], tmp_path: Path, line: str
) -> None:
    make_wheel(tmp_path / "libs", "extra", "1.0")
    backend = """\
        import zipfile
        from pathlib import Path
        def build_wheel(folder, config_settings=None, metadata_directory=None, link=False):
            info = "extra-1.0.dist-info"
            files = {
                f"{info}/METADATA": "Metadata-Version: 2.1\\nName: extra\\nVersion: 1.0\\n",
                f"{info}/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
            }
            if link:
                files["extra.pth"] = str(Path.cwd())
            else:
                files["extra.py"] = Path("extra.py").read_text()
            with zipfile.ZipFile(Path(folder) / "extra-1.0-py3-none-any.whl", "w") as wheel:
                for path, text in {**files, f"{info}/RECORD": "".join(f"{f},,\\n" for f in files)}.items():
                    wheel.writestr(path, text)
            return "extra-1.0-py3-none-any.whl"
        def build_editable(folder, config_settings=None, metadata_directory=None):
            return build_wheel(folder, link=True)
        """
    project = "[build-system]\nrequires=[]\nbuild-backend='backend'\nbackend-path=['.']\n"
    project += "[project]\nname='extra'\nversion='1.0'\n"
    write_files(
        tmp_path,
        {
            "needs.txt": "-r more.txt\n",
            "more.txt": "libs/extra-1.0-py3-none-any.whl  # a path\n",
            "project/pyproject.toml": project,
            "project/backend.py": backend,
            "project/extra.py": "__version__ = '1.0'\n",
        },
    )
    line = line.replace("REPOSITORY", tmp_path.name)
    assert ran(layer(line), "import extra; print(extra.__version__)") == "1.0"


def test_a_package_that_changed_on_disk_is_installed_again(
    layer: Callable[..., Layer | None], tmp_path: Path
) -> None:
    for text in ("1", "2"):
        make_wheel(tmp_path, "extra", "1.0", files={"extra.py": f"N = {text}\n"})
        assert ran(layer("./extra-1.0-py3-none-any.whl"), "import extra; print(extra.N)") == text


def test_a_direct_pin_wins_over_what_other_packages_ask_for(
    layer: Callable[..., Layer | None], said: list[str]
) -> None:
    assert installed(layer("picky", "tiny==1.1")) == {"picky==1.0", "tiny==1.1"}
    assert said == ["The task `a`: versions requested directly replace what other packages require"]


def test_lakewards_needs_win_over_what_packages_of_packages_ask_for(
    layer: Callable[..., Layer | None],
) -> None:
    assert installed(layer("old-console")) == {"old_console==1.0"}


def test_numpy_1_brings_a_pyarrow_that_it_imports(layer: Callable[..., Layer | None], machine: Path) -> None:
    # These wheels have no pandas to import them, which the check after the build reports.
    with pytest.raises(LakewardError, match=r"ENVIRONMENT_BROKEN.*numpy==1.26.4, pyarrow==23.0.0") as raised:
        layer("numpy<2")
    assert "cannot be imported together" in raised.value.message
    assert not list((machine / "cache" / "layers").glob("*-*.tmp"))


@pytest.mark.parametrize(
    ("lines", "condition", "words"),
    [
        (["absent==3"], "DEPENDENCY_NOT_FOUND", "absent==3"),
        (["tiny==7"], "DEPENDENC", "tiny==7"),
        (["tiny==1.0", "tiny==1.1"], "DEPENDENCIES_CONFLICT", "tiny==1.0, tiny==1.1"),
        (["tiny=1.0"], "REQUIREMENT_INVALID", "`tiny=1.0`"),
        (["./libs/none.whl"], "PACKAGE_FILE_NOT_FOUND", "libs/none.whl"),
        (["./libs/*.whl"], "PACKAGE_FILE_NOT_FOUND", "libs/*.whl"),
        (["-e ./nowhere"], "PACKAGE_FILE_NOT_FOUND", "nowhere"),
        (["-r ./absent.txt"], "REQUIREMENTS_NOT_FOUND", "absent.txt"),
    ],
)
def test_what_cannot_be_installed_names_the_place_and_the_package(
    layer: Callable[..., Layer | None],
    machine: Path,
    tmp_path: Path,
    lines: list[str],
    condition: str,
    words: str,
) -> None:
    cache = machine / "cache" / "layers"
    before = {each for each in cache.glob("*") if each.is_dir() or each.suffix == ".json"}
    resolve = lambda: Layers().require_resolvable(lines, origin="The task `a`", folder=tmp_path)  # noqa: E731
    for attempt in (lambda: layer(*lines), resolve):
        with pytest.raises(LakewardError) as raised:
            attempt()
        assert raised.value.condition.startswith(condition)
        assert "The task `a`" in raised.value.message
        assert words in raised.value.message
        assert raised.value.next_step
    assert {each for each in cache.glob("*") if each.is_dir() or each.suffix == ".json"} == before


def test_an_active_layer_is_imported_from_first_and_forgotten_afterwards(
    layer: Callable[..., Layer | None],
) -> None:
    before = list(sys.path)
    for version in ("1.0", "1.1"):
        with active(layer(f"tiny=={version}")):
            import tiny

            assert tiny.__version__ == version
            assert metadata.version("tiny") == version
        assert sys.path == before
        assert "tiny" not in sys.modules


def test_a_layer_that_replaces_an_active_one_has_its_packages_too(
    layer: Callable[..., Layer | None], tmp_path: Path
) -> None:
    layer("helper==1.0")
    # Another process takes the first layer from the cache, and looks up nothing before it is active.
    code = """
from pathlib import Path
from lakeward.environments import Layers, active
layers = Layers(say=str)
with active(layers.get(["helper==1.0"], origin="a", folder=Path())):
    print(layers.get(["helper==1.0", "picky==1.0"], origin="a", folder=Path()).site)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    names = {each.name for each in metadata.distributions(path=[done.stdout.strip()])}
    assert names == {"helper", "tiny", "picky"}
