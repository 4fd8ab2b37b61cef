"""The repository that serves jars is the one that the user or the user's Maven names."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import SetupError
from lakeward.session.jvm.maven import CENTRAL, is_mirror_of_central, repository

SETTINGS = """<?xml version="1.0"?>
<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0">
  <mirrors>
    <mirror><id>a</id><mirrorOf>internal</mirrorOf><url>https://internal.example.com/</url></mirror>
    <mirror><id>b</id><mirrorOf>{pattern}</mirrorOf><url>https://mirror.example.com/maven2/</url></mirror>
  </mirrors>
</settings>
"""


def with_settings(home: Path, text: str) -> dict[str, str]:
    (home / ".m2").mkdir()
    (home / ".m2" / "settings.xml").write_text(text)
    return {"HOME": str(home)}


def test_without_settings_it_is_maven_central(tmp_path: Path) -> None:
    assert repository({"HOME": str(tmp_path)}).url == CENTRAL


def test_a_mirror_in_the_users_maven_settings_is_used(tmp_path: Path) -> None:
    environ = with_settings(tmp_path, SETTINGS.format(pattern="central"))
    assert repository(environ).url == "https://mirror.example.com/maven2"
    assert repository(environ).named_by == str(tmp_path / ".m2" / "settings.xml")


def test_settings_without_a_name_space_are_read_too(tmp_path: Path) -> None:
    text = SETTINGS.format(pattern="*").replace(' xmlns="http://maven.apache.org/SETTINGS/1.2.0"', "")
    assert repository(with_settings(tmp_path, text)).url == "https://mirror.example.com/maven2"


def test_the_variable_goes_before_the_settings(tmp_path: Path) -> None:
    environ = with_settings(tmp_path, SETTINGS.format(pattern="*"))
    environ["LAKEWARD_MAVEN_MIRROR"] = "http://localhost:81/maven2/"
    assert repository(environ).url == "http://localhost:81/maven2"


@pytest.mark.parametrize(
    ("pattern", "covered"),
    [
        ("*", True),
        ("central", True),
        ("external:*", True),
        ("a, central ,b", True),
        ("*,!central", False),
        ("!central,*", False),
        ("centrally", False),
        ("", False),
    ],
)
def test_a_mirror_covers_central_by_mavens_own_rules(pattern: str, covered: bool) -> None:
    assert is_mirror_of_central(pattern) is covered


def test_settings_that_cannot_be_read_are_an_error_that_names_them(tmp_path: Path) -> None:
    environ = with_settings(tmp_path, "<settings><mirrors>")
    with pytest.raises(SetupError, match=r"MAVEN_SETTINGS_INVALID.*settings\.xml") as raised:
        repository(environ)
    assert "LAKEWARD_MAVEN_MIRROR" in str(raised.value)


@pytest.mark.parametrize(
    "address", ["ftp://example.com", "file:///etc", "example.com/maven2", "http://[", "https://"]
)
def test_an_address_that_is_none_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="MAVEN_MIRROR_INVALID"):
        repository({"HOME": str(tmp_path), "LAKEWARD_MAVEN_MIRROR": address})
