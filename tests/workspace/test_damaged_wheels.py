"""Uploaded wheels that are damaged: an error with their name, never a traceback, and no file elsewhere."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.errors import ConfigurationError
from lakeward.workspace.runs.deployed_bundle import unpacked_wheels


def _wheel(file: Path, **more: str) -> bytearray:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pack/__init__.py", "x = 1\n" * 500)
        archive.writestr("pack-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: pack\nVersion: 1\n")
        archive.writestr("pack-1.dist-info/entry_points.txt", "[console_scripts]\nmain = pack:main\n")
        for name, text in more.items():
            archive.writestr(name, text)
    return bytearray(file.read_bytes())


def _unpack(file: Path, folder: Path) -> None:
    job = {"tasks": [{"libraries": [{"whl": str(file)}]}]}
    unpacked_wheels(job, folder)


def _set(data: bytearray, offset: int, value: int) -> None:
    """Set a field of all local (offset) and central (offset + 2) headers."""
    for mark, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset + shift] = value
            at = data.find(mark, at + 4)


DAMAGE: dict[str, Callable[[bytearray], None]] = {
    "encrypted": lambda data: _set(data, 6, 1),
    "of an unknown compression": lambda data: _set(data, 8, 99),
    "truncated": lambda data: data.__delitem__(slice(len(data) // 2, None)),
    "empty": lambda data: data.clear(),
    "of other bytes": lambda data: data.__setitem__(slice(60, 90), bytes(30)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_wheel_is_named(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "pack-1-py3-none-any.whl"
    data = _wheel(file)
    DAMAGE[damage](data)
    file.write_bytes(data)
    with pytest.raises(ConfigurationError, match="WHEEL_INVALID") as refused:
        _unpack(file, tmp_path / "wheels")
    assert str(file) in str(refused.value)


def test_a_wheel_in_which_a_file_is_a_folder_is_named(tmp_path: Path) -> None:
    file = tmp_path / "pack-1-py3-none-any.whl"
    _wheel(file, **{"pack/__init__.py/inner.py": ""})
    with pytest.raises(ConfigurationError, match="WHEEL_INVALID"):
        _unpack(file, tmp_path / "wheels")


@pytest.mark.parametrize("text", ["[console_scripts]\nmain\n", "[a]\n[b\n", "[console_scripts]\n\xff\n"])
def test_damaged_entry_points_are_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "pack-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("pack-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: pack\nVersion: 1\n")
        archive.writestr("pack-1.dist-info/entry_points.txt", text.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="WHEEL_INVALID"):
        _unpack(file, tmp_path / "wheels")


def test_no_byte_of_a_wheel_ends_with_a_traceback(tmp_path: Path) -> None:
    file, chance, refused = tmp_path / "pack-1-py3-none-any.whl", random.Random(3), 0
    data = _wheel(file)
    before = set(tmp_path.iterdir())
    for number in range(400):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 2, 8))):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        file.write_bytes(changed)
        try:
            _unpack(file, tmp_path / "wheels" / str(number))
        except ConfigurationError as error:
            assert error.condition in ("WHEEL_INVALID",)
            refused += 1
    assert refused > 100
    assert set(tmp_path.iterdir()) == before | {tmp_path / "wheels"}
