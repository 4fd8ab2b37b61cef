"""TLS on loopback, for clients that know no other address than https://.

The certificate is signed by an authority that is made for it. Its key is not kept: it signs no other
certificate.
"""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lakeward.atomic_files import atomic_write

# Longer lifetimes are refused by some clients: https://support.apple.com/102028.
_LIFETIME = timedelta(days=820)
_RENEWED_BEFORE = timedelta(days=30)
CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""Variables that name a file of trusted authorities: of OpenSSL and Go, and of requests."""


@dataclass(frozen=True)
class SecureListener:
    """A listening socket, the context of its connections, and the authorities that clients have to trust."""

    socket: socket.socket
    context: ssl.SSLContext
    ca_file: Path


def server_context(folder: Path) -> ssl.SSLContext:
    """Return the context of a server on 127.0.0.1 and localhost; its certificate is stored in `folder`."""
    authority, certificate = folder / "authority.pem", folder / "server.pem"
    if not _is_valid(certificate) or not authority.is_file():
        _make(authority, certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def write_trusted_authorities(folder: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Write a file for CA_VARIABLES: the authorities that are trusted now, and that of `folder`."""
    import certifi

    named = (environ.get(variable) for variable in CA_VARIABLES)
    file = folder / "trusted.pem"
    known = next((Path(each) for each in named if each and Path(each).is_file() and Path(each) != file), None)
    trusted = (known or Path(certifi.where())).read_text(encoding="utf-8")
    own = (folder / "authority.pem").read_text(encoding="ascii")
    atomic_write(file, f"{trusted.rstrip()}\n{own}")
    return file


def _is_valid(certificate: Path) -> bool:
    try:
        found = x509.load_pem_x509_certificate(certificate.read_bytes())
    except (OSError, ValueError):
        return False
    return found.not_valid_after_utc > datetime.now(timezone.utc) + _RENEWED_BEFORE


def _make(authority: Path, certificate: Path) -> None:
    issuer_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = _name("lakeward workspace: local authority")
    issued = (
        _builder(issuer, issuer, issuer_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(issuer_key.public_key()), critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1"))])
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    signed = (
        _builder(_name("lakeward workspace"), issuer, key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(names, critical=False)
        .add_extension(identifier, critical=False)
        .sign(issuer_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    authority.parent.mkdir(parents=True, exist_ok=True)
    # The certificate decides whether both are made again: it comes last.
    atomic_write(authority, issued.public_bytes(pem).decode("ascii"))
    atomic_write(certificate, (signed.public_bytes(pem) + private).decode("ascii"), mode=0o600)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        # Clocks of containers are behind at times.
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + _LIFETIME)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
