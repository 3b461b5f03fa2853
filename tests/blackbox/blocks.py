# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The blocks of a trace, by docs/format-trace.md."""


def blocks_of(path):
    """(type, instance, bytes) of each block."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = int.from_bytes(data[20:24], "little"), []
    while data[at:at + 4] == b"RLBK":
        stored = int.from_bytes(data[at + 16:at + 20], "little")
        size = (64 + stored + 7) // 8 * 8
        found.append((data[at + 4], int.from_bytes(data[at + 8:at + 16], "little"), size))
        at += size
    return found
