# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""Writes traces by docs/format-trace.md alone: rows one by one in blocks that
are stored as they are, and whatever a later version might bring."""

import struct

from tests.blackbox.wire import BYTE_ORDER, NO_INSTANCE, SEGMENT_MAGIC, TRACE_MAGIC, UNKNOWN, crc32c, varint, zigzag


def pad(data):
    return data + bytes(-len(data) % 8)


def schema_record(kind, body):
    body = pad(body)
    head = struct.pack("<HBB", 8 + len(body), kind, 0)
    return head + struct.pack("<I", crc32c(head + bytes(4) + body)) + body


def section(number, name, scope=0):
    text = name.encode()
    return schema_record(1, struct.pack("<HBBB3x", number, scope, len(text), 0) + text + b"\0\0")


def field(section_number, name, instance=NO_INSTANCE, unit=0, kind=0, predictor=0, shift=0, label="", help_text="", age=0):
    texts = [t.encode() for t in (name, label, help_text)]
    body = struct.pack("<IIIHH", instance, age, 0, section_number, 9)
    body += bytes([kind, unit, 0, 0, 0, predictor, shift, len(texts[0]), len(texts[1]), len(texts[2])]) + bytes(6)
    return schema_record(2, body + b"".join(t + b"\0" for t in texts))


def block(kind, instance_id, payload, **header):
    def build(checksum):
        return struct.pack("<4sBBHQIIHHHHQQQII", b"RLBK", kind, 0, header.get("flags", 0), instance_id, len(payload), len(payload),
                           header.get("rows", 0), header.get("events", 0), header.get("fields", 0), header.get("strings", 0),
                           header.get("first_seq", 0), header.get("first_at", 0), header.get("last_at", 0), header.get("schema_bytes", 0), checksum)
    return pad(build(crc32c(build(0) + payload)) + payload)


def header_page(major=1, minor=1, size=4096, incompatible=0, compatible=0):
    page = struct.pack("<8sQHHIQQQQ", TRACE_MAGIC, BYTE_ORDER, major, minor, size, incompatible, compatible, 0, 0)
    page += bytes(504 - len(page))
    return page + struct.pack("<Q", crc32c(page)) + bytes(size - 512)


def stream(instance_id, schema, label, pid=4711, minor=0, compatible=0):
    words = bytearray(512)
    struct.pack_into("<8sQHHI", words, 0, SEGMENT_MAGIC, BYTE_ORDER, 1, minor, 64)
    struct.pack_into("<Q", words, 32, compatible)
    struct.pack_into("<Q", words, 56, instance_id)
    struct.pack_into("<QQ", words, 88, pid, 77)
    struct.pack_into("<16s", words, 240, b"forged")
    struct.pack_into("<128s", words, 256, label.encode())
    struct.pack_into("<Q", words, 504, crc32c(bytes(words[:504])))
    return block(3, instance_id, bytes(words) + schema, schema_bytes=len(schema))


def growth(instance_id, schema, start):
    return block(5, instance_id, struct.pack("<II", start, 0) + schema[start:], schema_bytes=len(schema))


def row(instance_id, seq, values, shifts, schema_bytes, events=(), strings=()):
    """A block of one row, behind events of (type, subject, value, string id)."""
    modes, bodies = b"", b""
    for value, shift in zip(values, shifts):
        if value == UNKNOWN:
            modes += b"\x20"
        else:
            modes += b"\x02"
            bodies += varint(zigzag(value >> shift))
    payload = modes + bodies
    at = values[0]
    payload += b"".join(varint(0) for _ in events)
    payload += b"".join(varint(event[0]) for event in events)
    payload += b"".join(varint(0) for _ in events)
    for k in (1, 3):
        before, part = 0, b""
        for event in events:
            part += varint(zigzag(event[k] - before))
            before = event[k]
        payload += part
        if k == 1:
            payload += b"".join(varint((event[2] + 1) & UNKNOWN) for event in events)
    before = 0
    for string_id, _ in strings:
        payload += varint(zigzag(string_id - before))
        before = string_id
    payload += bytes(len(text) for _, text in strings) + b"".join(text for _, text in strings)
    return block(1, instance_id, payload, rows=1, events=len(events), fields=len(values), strings=len(strings), first_seq=seq,
                 first_at=at, last_at=at, schema_bytes=schema_bytes)
