# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""What segments and traces are made of, by the documents of both formats alone:
numbers, checksums, and the mark of the byte order."""

NO_INSTANCE = 2**32 - 1
UNKNOWN = 2**64 - 1
MASK = 2**64 - 1
BYTE_ORDER = 0x0102030405060708
SEGMENT_MAGIC = b"RCALLSG1"
TRACE_MAGIC = b"RCALLTR1"


def crc_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82f63b78 if i & 1 else 0)
        table.append(i)
    return table


CRC_TABLE = crc_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def varint(value):
    for n in range(1, 9):
        if value < 1 << 7 * n:
            return (value << n | 1 << (n - 1)).to_bytes(n, "little")
    return b"\0" + value.to_bytes(8, "little")


def read_varint(data, at):
    """The number at `at`, and where it ends."""
    first = data[at]
    if first == 0:
        return int.from_bytes(data[at + 1:at + 9], "little"), at + 9
    length = (first & -first).bit_length()
    return int.from_bytes(data[at:at + length], "little") >> length, at + length


def zigzag(difference):
    difference &= MASK
    return (difference << 1 ^ (MASK if difference >> 63 else 0)) & MASK


def unzigzag(code):
    return (code >> 1 ^ -(code & 1)) & MASK
