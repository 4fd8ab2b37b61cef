"""Jars come once, whole and verified; whatever prevents it is said in one sentence with a setting."""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakeward.errors import SetupError
from lakeward.session.jvm.jars import JARS, Jar, cache_dir, locate_jars, pinned_jars
from tests.setup.maven_server import Cut, Hang, Instead, MavenServer, Status

CONTENT = bytes(range(256)) * 2000


@pytest.fixture
def environ(tmp_path: Path, maven: MavenServer) -> dict[str, str]:
    """An empty cache and an empty home, with the loopback repository as mirror."""
    return {
        "HOME": str(tmp_path / "home"),
        "LAKEWARD_CACHE": str(tmp_path / "cache"),
        "LAKEWARD_MAVEN_MIRROR": maven.url,
    }


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lakeward.session.jvm.jar_download.download.__kwdefaults__",
        {
            "on_bytes": lambda _: None,
            "sleep": lambda _: None,
        },
    )


def left_in(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()} - {".lock"}


def test_a_jar_is_fetched_once_and_then_taken_from_the_cache(
    maven: MavenServer, environ: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jar = maven.jar(CONTENT)
    assert locate_jars([jar], environ) == [tmp_path / "cache" / "jars" / "thing-1.0.jar"]
    assert locate_jars([jar], environ)[0].read_bytes() == CONTENT
    assert len(maven.requests) == 1
    assert left_in(tmp_path / "cache" / "jars") == {"thing-1.0.jar"}
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"Fetching jars (0.5 MB) from {maven.url}\n"


def test_a_jar_that_was_cut_in_the_cache_is_fetched_again(
    maven: MavenServer, environ: dict[str, str]
) -> None:
    jar = maven.jar(CONTENT)
    file = locate_jars([jar], environ)[0]
    file.write_bytes(CONTENT[:100])
    assert locate_jars([jar], environ)[0].read_bytes() == CONTENT


def test_a_connection_that_ends_early_is_taken_up_where_it_ended(
    maven: MavenServer, environ: dict[str, str]
) -> None:
    jar = maven.jar(CONTENT)
    maven.faults = [Cut(1000), Cut(500)]
    assert locate_jars([jar], environ)[0].read_bytes() == CONTENT
    assert [headers.get("Range") for _, headers in maven.requests] == [None, "bytes=1000-", "bytes=1500-"]


def test_a_repository_without_ranges_is_requested_the_whole_again(
    maven: MavenServer, environ: dict[str, str]
) -> None:
    jar = maven.jar(CONTENT)
    maven.with_ranges = False
    maven.faults = [Cut(1000)]
    assert locate_jars([jar], environ)[0].read_bytes() == CONTENT
    assert len(maven.requests) == 2


def test_a_connection_that_always_ends_early_is_an_error_and_leaves_no_jar(
    maven: MavenServer, environ: dict[str, str], tmp_path: Path
) -> None:
    jar = maven.jar(CONTENT)
    maven.always = Cut(10)
    with pytest.raises(SetupError) as raised:
        locate_jars([jar], environ)
    assert raised.value.condition == "JARS_NOT_REACHABLE"
    assert "ended after 10 of" in str(raised.value)
    assert left_in(tmp_path / "cache" / "jars") == {"thing-1.0.jar.part"}


@pytest.mark.parametrize("wrong", [CONTENT[::-1], b"<html>sign in</html>", CONTENT + b"more", b""])
def test_other_bytes_than_the_jars_are_refused(
    wrong: bytes, maven: MavenServer, environ: dict[str, str], tmp_path: Path
) -> None:
    jar = maven.jar(CONTENT)
    maven.always = Instead(wrong)
    with pytest.raises(SetupError) as raised:
        locate_jars([jar], environ)
    assert raised.value.condition == "JAR_CHECKSUM_MISMATCH"
    assert maven.url in str(raised.value) and "LAKEWARD_MAVEN_MIRROR" in str(raised.value)
    assert left_in(tmp_path / "cache" / "jars") == set()


def test_a_damaged_part_of_an_earlier_attempt_does_no_harm(
    maven: MavenServer, environ: dict[str, str], tmp_path: Path
) -> None:
    jar = maven.jar(CONTENT)
    part = tmp_path / "cache" / "jars" / "thing-1.0.jar.part"
    part.parent.mkdir(parents=True)
    for damaged in (b"x" * 1000, b"x" * len(CONTENT), b"x" * (len(CONTENT) + 1)):
        part.write_bytes(damaged)
        file = locate_jars([jar], environ)[0]
        assert file.read_bytes() == CONTENT
        file.unlink()


def test_a_jar_that_the_repository_lacks_names_its_address_and_who_named_the_repository(
    maven: MavenServer, environ: dict[str, str]
) -> None:
    jar = Jar("org.example", "other", "2.0", 10, "00")
    with pytest.raises(SetupError) as raised:
        locate_jars([jar], environ)
    assert raised.value.condition == "JAR_NOT_IN_REPOSITORY"
    assert f"{maven.url}/org/example/other/2.0/other-2.0.jar" in str(raised.value)
    assert "LAKEWARD_MAVEN_MIRROR" in raised.value.message
    assert len(maven.requests) == 1


def test_a_server_in_trouble_is_called_again(maven: MavenServer, environ: dict[str, str]) -> None:
    jar = maven.jar(CONTENT)
    maven.faults = [Status(503), Status(429)]
    assert locate_jars([jar], environ)[0].read_bytes() == CONTENT


def test_without_a_network_the_settings_that_help_are_named(
    environ: dict[str, str], maven: MavenServer, closed_address: str
) -> None:
    jar = maven.jar(CONTENT)
    with pytest.raises(SetupError) as raised:
        locate_jars([jar], {**environ, "LAKEWARD_MAVEN_MIRROR": closed_address})
    assert raised.value.condition == "JARS_NOT_REACHABLE"
    assert raised.value.exit_code == 2
    for word in (
        "Connection refused",
        closed_address,
        "LAKEWARD_MAVEN_MIRROR",
        "HTTPS_PROXY",
        "LAKEWARD_JARS",
    ):
        assert word in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_password_in_the_mirrors_address_is_sent_and_never_shown(
    maven: MavenServer, environ: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    jar = maven.jar(CONTENT)
    environ["LAKEWARD_MAVEN_MIRROR"] = maven.url.replace("://", "://me:s%40cret@")
    locate_jars([jar], environ)
    assert maven.requests[0][1]["Authorization"] == "Basic bWU6c0BjcmV0"
    maven.always = Status(403)
    with pytest.raises(SetupError) as raised:
        locate_jars([maven.jar(CONTENT, "second")], environ)
    assert raised.value.condition == "JAR_REFUSED"
    shown = str(raised.value) + capsys.readouterr().err
    assert "cret" not in shown and "me:" not in shown


def test_the_proxy_of_the_machine_is_used_and_no_proxy_respected(
    maven: MavenServer, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = maven.jar(CONTENT)
    environ["LAKEWARD_MAVEN_MIRROR"] = "http://maven.invalid/maven2"
    monkeypatch.setenv("http_proxy", maven.url.removesuffix("/maven2"))
    file = locate_jars([jar], environ)[0]
    assert maven.requests[0][0] == f"http://maven.invalid/maven2/{jar.path}"
    file.unlink()
    monkeypatch.setenv("no_proxy", "maven.invalid")
    with pytest.raises(SetupError, match="JARS_NOT_REACHABLE"):
        locate_jars([jar], environ)


def test_a_certificate_that_is_not_trusted_names_the_setting_which_then_helps(
    maven: MavenServer, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = maven.jar(CONTENT)
    certificate, key = self_signed(tmp_path)
    maven.encrypt(certificate, key)
    environ["LAKEWARD_MAVEN_MIRROR"] = maven.url
    with pytest.raises(SetupError) as raised:
        locate_jars([jar], environ)
    assert raised.value.condition == "MAVEN_CERTIFICATE_NOT_TRUSTED"
    assert "SSL_CERT_FILE" in str(raised.value)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert locate_jars([jar], environ)[0].read_bytes() == CONTENT


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate for 127.0.0.1, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = dt.datetime.now(dt.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return folder / "certificate.pem", folder / "key.pem"


def test_processes_that_start_together_fetch_once(maven: MavenServer, environ: dict[str, str]) -> None:
    jars = [maven.jar(CONTENT + bytes([n]), f"jar{n}") for n in range(3)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: locate_jars(jars, environ), range(4)))
    assert all(files == found[0] for files in found)
    assert len(maven.requests) == 3


def test_a_killed_download_is_continued_by_the_next_process(
    maven: MavenServer, environ: dict[str, str], tmp_path: Path
) -> None:
    jar = maven.jar(CONTENT)
    go = threading.Event()
    maven.faults = [Hang(100_000, go)]
    code = f"from lakeward.session.jvm.jars import Jar, locate_jars; locate_jars([Jar(*{astuple(jar)!r})])"
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **environ})
    part = tmp_path / "cache" / "jars" / "thing-1.0.jar.part"
    try:
        deadline = time.monotonic() + 30
        while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        go.set()
    have = part.stat().st_size
    assert 0 < have <= 100_000
    assert locate_jars([jar], environ)[0].read_bytes() == CONTENT
    assert maven.requests[-1][1]["Range"] == f"bytes={have}-"


def astuple(jar: Jar) -> tuple[object, ...]:
    return (jar.group, jar.artifact, jar.version, jar.size, jar.sha256)


def test_a_full_disk_names_the_place_and_the_setting(
    maven: MavenServer, environ: dict[str, str], full_disk: Callable[[int], Path]
) -> None:
    disk = full_disk(64 * 1024)
    environ["LAKEWARD_CACHE"] = str(disk / "cache")
    with pytest.raises(SetupError) as raised:
        locate_jars([maven.jar(CONTENT)], environ)
    assert raised.value.condition == "CACHE_NO_SPACE"
    assert str(disk) in str(raised.value) and "LAKEWARD_CACHE" in str(raised.value)


def test_a_cache_that_cannot_be_written_names_the_place_and_the_setting(
    maven: MavenServer, environ: dict[str, str], tmp_path: Path, read_only: Callable[[Path], Path]
) -> None:
    jar = maven.jar(CONTENT)
    (tmp_path / "a file").write_text("")
    environ["LAKEWARD_CACHE"] = str(tmp_path / "a file" / "cache")
    with pytest.raises(SetupError, match=r"CACHE_NOT_WRITABLE.*LAKEWARD_CACHE"):
        locate_jars([jar], environ)
    kept = tmp_path / "kept" / "jars"
    kept.mkdir(parents=True)
    read_only(kept)
    environ["LAKEWARD_CACHE"] = str(tmp_path / "kept")
    with pytest.raises(SetupError, match=r"CACHE_NOT_WRITABLE.*LAKEWARD_CACHE"):
        locate_jars([jar], environ)


def test_a_folder_of_jars_is_used_as_it_is_and_nothing_is_fetched(tmp_path: Path, maven: MavenServer) -> None:
    jar = maven.jar(CONTENT)
    (tmp_path / jar.name).write_bytes(b"my own build")
    assert locate_jars([jar], {"LAKEWARD_JARS": str(tmp_path)}) == [tmp_path / jar.name]
    assert maven.requests == []


def test_a_folder_that_lacks_jars_names_them(tmp_path: Path) -> None:
    for jar in JARS[1:4]:
        (tmp_path / jar.name).touch()
    with pytest.raises(SetupError) as raised:
        pinned_jars({"LAKEWARD_JARS": str(tmp_path)})
    assert raised.value.condition == "JARS_NOT_FOUND"
    for jar in JARS:
        assert (jar.name in str(raised.value)) == (jar not in JARS[1:4])
    with pytest.raises(SetupError, match="which is not a folder"):
        pinned_jars({"LAKEWARD_JARS": str(tmp_path / "nowhere")})


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"LAKEWARD_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/c"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/lakeward"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/lakeward"),
        ({"HOME": "/h"}, "/h/.cache/lakeward"),
    ],
)
def test_the_cache_is_where_the_user_keeps_caches(environ: dict[str, str], folder: str) -> None:
    assert cache_dir(environ) == Path(folder)
