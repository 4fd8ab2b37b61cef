"""Decompression of whole files by the ends of their names."""

from __future__ import annotations

import bz2
import gzip
import struct
import zlib
from collections.abc import Iterator

from lakeward.autoloader.discovery.file_listing import COMPRESSED_SUFFIXES


def decompress(path: str, data: bytes) -> bytes:
    """Return the content of a file, decompressed if its name says that it is compressed."""
    if not path.endswith(COMPRESSED_SUFFIXES):
        return data
    if path.endswith(".gz"):
        return gzip.decompress(data)
    if path.endswith(".bz2"):
        return bz2.decompress(data)
    if path.endswith((".zst", ".zstd")):
        import pyarrow as pa

        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return bytes(stream.read())
    if path.endswith(".deflate"):
        return zlib.decompress(data)
    return b"".join(_snappy_blocks(data))


def _snappy_blocks(data: bytes) -> Iterator[bytes]:
    """Decompress Hadoop's framing: blocks of known size in chunks of known compressed size."""
    import pyarrow as pa

    codec = pa.Codec("snappy")
    at = 0
    while at < len(data):
        (missing,) = struct.unpack_from(">I", data, at)
        at += 4
        while missing:
            (packed,) = struct.unpack_from(">I", data, at)
            chunk = data[at + 4 : at + 4 + packed]
            size = _read_varint(chunk)
            yield codec.decompress(chunk, decompressed_size=size, asbytes=True)
            missing -= size
            at += 4 + packed


def _read_varint(chunk: bytes) -> int:
    """Return the uncompressed size, which precedes a snappy chunk."""
    size = 0
    for index, byte in enumerate(chunk[:5]):
        size |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return size
    raise ValueError("a snappy chunk without a size")
