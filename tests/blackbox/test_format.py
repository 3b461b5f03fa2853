# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""A reader of segments written from docs/format-segment.md alone, as a stranger
would; what it reads of a live segment is what the command says."""

import json
import os
import struct
import unittest

from tests.blackbox.support import Case, Script, needs_preload
from tests.blackbox.wire import BYTE_ORDER, MASK, NO_INSTANCE, SEGMENT_MAGIC, UNKNOWN, crc32c, read_varint, unzigzag

DELTA, DOD, OFFSET, DERIVED = range(4)


class Segment:
    """One copy of the file; nothing here may be trusted to be of one moment but
    what the format says is."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        header = struct.unpack_from("<64Q", self.data)
        assert self.data[:8] == SEGMENT_MAGIC and header[1] == BYTE_ORDER
        assert header[2] & 0xffff == 1 and header[2] >> 32 == 64 and header[3] == 0
        assert header[63] == crc32c(self.data[:504])
        assert header[5] <= len(self.data)
        self.header = header
        self.comm = self.text(240, 16)
        self.label = self.text(256, 128)
        self.control = struct.unpack_from("<65Q", self.data, header[28])
        self.read_schema(self.data[header[19]:header[19] + self.control[33]])

    def text(self, at, size):
        return self.data[at:at + size].split(b"\0")[0].decode()

    def read_schema(self, data):
        self.sections, self.fields, self.invariants = {}, [], {}
        at = 0
        while at < len(data):
            size, kind, _, checksum = struct.unpack_from("<HBBI", data, at)
            record = data[at:at + size]
            assert size % 8 == 0 and size >= 8
            assert crc32c(record[:4] + bytes(4) + record[8:]) == checksum
            if kind == 1:
                number, scope, name, _ = struct.unpack_from("<HBBB", record, 8)
                self.sections[number] = record[16:16 + name].decode()
            elif kind == 2:
                instance, _, reference, section = struct.unpack_from("<IIIH", record, 8)
                predictor, shift, name = record[29], record[30], record[31]
                self.fields.append({"section": section, "name": record[40:40 + name].decode(), "instance": instance,
                                    "unit": record[25], "predictor": predictor, "shift": shift, "reference": reference})
            elif kind == 3:
                target, terms = struct.unpack_from("<II", record, 8)
                self.invariants[target] = [struct.unpack_from("<Ii", record, 16 + 8 * i) for i in range(terms)]
                self.fields[target]["predictor"] = DERIVED
            elif kind == 4:
                self.repeat(*struct.unpack_from("<III", record, 8))
            at += size
        assert len(self.fields) == self.control[34]

    def repeat(self, instance, like, n_fields):
        moved = len(self.fields) - like
        within = range(like, like + n_fields)
        for field in [dict(self.fields[i]) for i in within]:
            field["instance"] = instance
            if field["predictor"] == OFFSET and field["reference"] in within:
                field["reference"] += moved
            if field["predictor"] == DERIVED:
                field["predictor"] = DELTA
            self.fields.append(field)
        for target, terms in list(self.invariants.items()):
            if target in within and all(position in within for position, _ in terms):
                self.invariants[target + moved] = [(position + moved, sign) for position, sign in terms]
                self.fields[target + moved]["predictor"] = DERIVED

    def name(self, field):
        section = self.sections[field["section"]]
        where = "" if field["instance"] == NO_INSTANCE else "[%d]" % field["instance"]
        return "%s%s.%s" % (section, where, field["name"])

    def latest(self):
        latest = self.control[32]
        at = self.header[23] + (latest & 1) * self.header[51]
        seq, n_fields = struct.unpack_from("<QQ", self.data, at)
        assert seq == latest >> 1
        return seq, struct.unpack_from("<%dQ" % n_fields, self.data, at + 16)

    # ---- The open chunk ----

    def open_records(self):
        chunks = [struct.unpack_from("<8Q", self.data, self.header[24] + i * self.header[25]) for i in range(2)]
        newest = max(range(2), key=lambda i: chunks[i][0])
        _, used, seq, n_fields, _ = chunks[newest][:5]
        at = self.header[24] + newest * self.header[25] + 64
        frames = self.data[at:at + (used & 0xffffffff)]
        at = 0
        self.last, self.base, self.step = [UNKNOWN] * n_fields, [0] * n_fields, [0] * n_fields
        records, strings = [], {}
        while at < len(frames):
            kind, at = frames[at], at + 1
            if kind == 1:
                row, at = self.row(frames, at, n_fields)
                records.append((seq, row))
                seq += 1
            elif kind == 2:
                numbers = []
                for _ in range(5):
                    number, at = read_varint(frames, at)
                    numbers.append(number)
                records.append((seq, {"type": numbers[0], "at_ns": numbers[1] << 10, "subject": numbers[2],
                                      "value": numbers[3], "text": strings.get(numbers[4])}))
                seq += 1
            else:
                assert kind == 3
                string_id, at = read_varint(frames, at)
                length, at = read_varint(frames, at)
                strings[string_id] = frames[at:at + length].decode()
                at += length
        self.strings = strings
        return records

    def row(self, frames, at, n):
        groups = (n + 7) // 8
        mask = int.from_bytes(frames[at:at + (groups + 7) // 8], "little")
        at += (groups + 7) // 8
        coded = []
        for group in range(groups):
            if mask >> group & 1:
                coded += [group * 8 + bit for bit in range(8) if frames[at] >> bit & 1]
                at += 1
        order = {DELTA: 0, DOD: 1, OFFSET: 1, DERIVED: 2}
        row = list(self.last)
        for position in sorted(range(n), key=lambda i: (order[self.fields[i]["predictor"]], i)):
            field = self.fields[position]
            predicted = self.predict(row, position, field)
            if position in coded:
                code, at = read_varint(frames, at)
                if code == 0 and self.last[position] != UNKNOWN:
                    row[position] = UNKNOWN
                else:
                    shift = field["shift"]
                    row[position] = (((predicted >> shift) + unzigzag(code)) << shift) & MASK
            elif field["predictor"] != DELTA and self.last[position] != UNKNOWN:
                row[position] = predicted
        for position, value in enumerate(row):
            self.last[position] = value
            if value != UNKNOWN:
                self.step[position] = (value - self.base[position]) & MASK if self.base[position] else 0
                self.base[position] = value
        return row, at

    def predict(self, row, position, field):
        base, kind = self.base[position], field["predictor"]
        if kind == DOD:
            return (base + self.step[position]) & MASK
        if kind == OFFSET:
            reference = field["reference"]
            return base if row[reference] == UNKNOWN else (base + row[reference] - self.base[reference]) & MASK
        if kind == DERIVED:
            terms = self.invariants[position]
            if any(p >= len(row) or row[p] == UNKNOWN for p, _ in terms):
                return base
            total = sum(sign * row[p] for p, sign in terms) & MASK
            return base if total == UNKNOWN else total
        return base


@needs_preload
class Document(Case):
    def test_a_segment_read_by_the_document_alone(self):
        script = Script(self, ROLLCALL_INTERVAL_MS="60000", ROLLCALL_LABEL="by the book")
        script.do("pool 1 4096")
        script.do("pool 2 100 constant")
        script.do("gauge depth 12")
        script.do("phase:the first")
        script.candidate("a candidate", "timed")
        for i in range(20):
            script.do("pool %d %d" % (i + 10, i * 1000))
            script.do("flush")
        path = script.ask("path").split()[0]
        segment = Segment(path)
        listed = self.listed(script.pid)
        self.assertEqual((segment.header[11], segment.header[12], segment.label), (script.pid, listed["start_ticks"], "by the book"))
        self.assertEqual("%016x" % segment.header[7], os.path.basename(path).split(".")[1])
        self.assertEqual((segment.control[0], segment.control[5]), (1, 1))
        seq, row = segment.latest()
        records = segment.open_records()
        # The last row of the open chunk is the latest one.
        rows = [(s, r) for s, r in records if isinstance(r, list)]
        self.assertEqual(rows[-1], (seq, list(row)))
        self.assertEqual([s for s, _ in records], list(range(records[0][0], seq + 1)))
        events = [r for _, r in records if isinstance(r, dict)]
        self.assertEqual([(e["type"], e["text"]) for e in events], [(3, "the first"), (1, "a candidate"), (2, "a candidate")])
        self.assertEqual(events[2]["value"], 6)
        self.compare(segment, row, listed["fields"])
        top = json.loads(self.rollcall("top", "--json", "--once", str(script.pid)).stdout.splitlines()[0])
        self.assertEqual(self.one(top)["pid"], script.pid)

    def one(self, value):
        while isinstance(value, (list, dict)) and not (isinstance(value, dict) and "pid" in value):
            value = (value if isinstance(value, list) else value["processes"])[0]
        return value

    def compare(self, segment, row, fields):
        compared = 0
        for field, value in zip(segment.fields, row):
            name = segment.name(field)
            if value == UNKNOWN:
                self.assertIsNone(fields.get(name), name)
                continue
            expected = segment.strings.get(value) if field["unit"] == 4 else value
            if name == "self.realtime_offset_ns" or name not in fields:
                continue
            self.assertEqual(fields[name], expected, name)
            compared += 1
        self.assertGreater(compared, 60)
        for name in ("census.live_working_bytes", "app.depth", "device[0].live_working_pools", "search.phase"):
            self.assertIn(name, [segment.name(f) for f in segment.fields])


if __name__ == "__main__":
    unittest.main()
