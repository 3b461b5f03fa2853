# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""What the calls of the sources mean, and the writer and readers made of them.

A call that MEANINGS does not know, and a read of a reader that is not in its
place, is an error: then the code has changed and the model must follow."""

import re

from machine import Step
from source_ops import body, ops_of, orders

PUBLISH = "libtelemetry/publish/"
RING, COMMIT = PUBLISH + "ring.c", PUBLISH + "ring_commit.c"
SLOTS, SAMPLE = PUBLISH + "slots.c", PUBLISH + "sample.c"
ATTACH, OPEN, BLOCKS = "libtelemetry/attach.c", "libtelemetry/attach_open.c", "libtelemetry/attach_blocks.c"

# What the calls of the sources mean: names of the model's own operations.
MEANINGS = {
    # The writer.
    "tele_ring_store_bytes(ring, offset + TELE_CHUNK_HEADER_BYTES + at, ring->memory->frames, pending->bytes)": "frames",
    "tele_ring_store_word(ring, offset + 8 * TELE_CHUNK_USED, ring->used_bytes | (uint64_t)ring->drained << 32)": "used",
    "tele_ring_store_alone(ring, offset, 0)": "clear",
    "tele_ring_store_bytes(ring, offset + 8, header + 1, sizeof(header) - 8)": "header",
    "tele_ring_store_word(ring, offset, ring->epoch)": "epoch",
    "tele_ring_note(ring, TELE_CONTROL_HEAD, ring->head)": "head",
    "tele_ring_control(ring, TELE_CONTROL_TAIL, ring->tail)": "tail",
    "tele_ring_store_bytes(ring, layout->ring_offset + ring_position(ring, ring->tail), &header, sizeof(header))": "pad",
    "tele_ring_store_bytes(ring, ring->file->layout.ring_offset + ring_position(ring, ring->tail), ring->block, n_bytes)": "block",
    "tele_ring_note(ring, TELE_CONTROL_SEALED_SEQ, ring->next_seq)": "ignored",
    "tele_ring_store_bytes(ring, ring->file->layout.schema_offset + ring->schema_bytes, schema + ring->schema_bytes, schema_bytes - ring->schema_bytes)": "schema",
    "tele_ring_control(ring, TELE_CONTROL_SCHEMA_BYTES, schema_bytes)": "schema_bytes",
    "tele_ring_note(ring, TELE_CONTROL_FIELDS, ring->plan->n_fields)": "ignored",
    "tele_ring_store_bytes(ring, offset + 8, &n_fields, 8)": "number",
    "tele_ring_store_bytes(ring, offset + 16, row, 8 * (size_t)n_fields)": "values",
    "tele_ring_store_word(ring, offset, seq)": "seq",
    "tele_ring_note(ring, TELE_CONTROL_LATEST, seq * 2 + slot)": "latest",
    "tele_ring_control(&sampler->ring, TELE_CONTROL_STATE, state)": "state",
    "tele_fence_release()": "fence",
    "tele_fence_acquire()": "fence",
    # Readers.
    "tele_attach_pread(attach, &epochs[i], sizeof(epochs[i]), layout->chunk_offset + i * layout->chunk_bytes)": "epochs",
    "tele_attach_pread(attach, header + 1, TELE_CHUNK_HEADER_BYTES - 8, offset + 8)": "header",
    "tele_attach_pread(attach, attach->open.bytes, used, offset + TELE_CHUNK_HEADER_BYTES)": "frames",
    "tele_attach_pread(attach, &epoch, sizeof(epoch), offset)": "epoch again",
    "tele_attach_pread(attach, front, sizeof(front), ring_offset(attach, cursor))": "block",
    "tele_attach_pread(attach, attach->block, (size_t)n_bytes, ring_offset(attach, cursor))": "block",
    "tele_attach_read_control(attach)": "control",
    "tele_attach_pread(attach, &latest, sizeof(latest), layout->control_offset + 8 * TELE_CONTROL_LATEST)": "latest",
    "tele_attach_pread(attach, front, sizeof(front), offset)": "front",
    "tele_attach_pread(attach, ret_row, n_fields * 8, offset + sizeof(front))": "values",
    "tele_attach_pread(attach, again, sizeof(again), offset)": "front again",
    # Threads of the program and the publisher, on the slots.
    "atomic_load_explicit(&control_base, memory_order_acquire)": "ignored",
    "atomic_load_explicit(&control_base, memory_order_relaxed)": "ignored",
    "atomic_load_explicit(&slots_base, memory_order_relaxed)": "ignored",
    "atomic_load_explicit(claimed, memory_order_relaxed)": "claimed",
    "atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed)": "ignored",
    "atomic_store_explicit(word_at(base, TELE_SLOT_THREAD), (uint64_t)syscall(SYS_gettid), memory_order_relaxed)": "thread",
    "atomic_store_explicit(word_at(base, TELE_SLOT_THREAD), 0, memory_order_relaxed)": "no thread",
    "atomic_load_explicit(word_at(base, TELE_SLOT_THREAD), memory_order_relaxed)": "thread",
}

# The same with whatever memory order the source gives it.
SLOT_MEANINGS = [
    (r"atomic_load_explicit\(drained, memory_order_\w+\)", "drained"),
    (r"atomic_compare_exchange_weak_explicit\(claimed, &ticket, ticket \+ 1, .*\)", "claim"),
    (r"atomic_store_explicit\(word_at\(\(uint8_t \*\)slot->words, TELE_SLOT_FILLED\), slot->ticket \+ 1, .*\)", "filled"),
    (r"atomic_load_explicit\(word_at\(base, TELE_SLOT_FILLED\), .*\)", "filled"),
    (r"atomic_load_explicit\(word_at\(control, TELE_CONTROL_CLAIMED\), .*\)", "claimed"),
    (r"atomic_load_explicit\(word_at\(control, TELE_CONTROL_DRAINED\), .*\)", "drained"),
    (r"atomic_fetch_add_explicit\(word_at\(control, TELE_CONTROL_DRAINED\), 1, .*\)", "pop"),
]

ORDERS = orders()
# Left out in this run: a site, whose order becomes relaxed or which is not made.
left_out = None


def meaning_of(op):
    if op.text in MEANINGS:
        return MEANINGS[op.text]
    for pattern, meaning in SLOT_MEANINGS:
        if re.fullmatch(pattern, op.text):
            return meaning
    raise LookupError("the model does not know what this means:\n  %s" % op.site)


def order_of(op):
    """The memory order of one of the writer's or the slots' operations."""
    if op.name in ORDERS:
        order = ORDERS[op.name]
        order = "relaxed" if order == "plain" else order
    else:
        order = re.search(r"memory_order_(\w+)", op.text).group(1)
    return "relaxed" if op.site == left_out else order


def fence(op):
    return [] if op.site == left_out else [Step("fence", order=ORDERS[op.name], site=op.site)]


# ---- The writer ------------------------------------------------------------------

SEAL_PARTS = {"append_block": RING, "make_room": RING, "open_chunk": RING, "seal_range": RING}


class Writer:
    """Makes steps of the calls of the sources. One frame a record, blocks of one
    place, a ring of two blocks, slots for the latest row of two values."""

    def __init__(self, keep):
        self.keep, self.steps = keep, []
        self.epoch, self.used, self.first, self.next = 1, 0, 1, 1
        self.block, self.fields, self.row = 0, 1, 0

    def store(self, op, place, value):
        if place[0] in self.keep:
            self.steps.append(Step("st", place, value, order=order_of(op), site=op.site))

    def make(self, ops):
        for op in ops:
            what = meaning_of(op)
            if what == "fence":
                self.steps += fence(op)
            elif what not in ("ignored", "pad"):
                getattr(self, "store_" + what)(op)

    def publish(self, n=1):
        for _ in range(n):
            self.make(ops_of(COMMIT, "publish"))

    def seal(self):
        self.make(ops_of(RING, "tele_ring_seal", SEAL_PARTS))

    def store_frames(self, op):
        self.store(op, ("frame", self.epoch % 2, self.used), self.next)

    def store_used(self, op):
        self.used += 1
        self.next += 1
        self.store(op, ("used", self.epoch % 2), self.used)

    def store_clear(self, op):
        if op.function == "publish_latest":
            self.row += 1
            place = ("seq", self.row % 2)
        else:
            self.epoch += 1
            self.used, self.first = 0, self.next
            place = ("epoch", self.epoch % 2)
        if op.site != left_out:
            self.store(op, place, 0)

    def store_header(self, op):
        self.store(op, ("used", self.epoch % 2), 0)
        self.store(op, ("first", self.epoch % 2), self.first)
        self.store(op, ("fields", self.epoch % 2), self.fields)

    def store_epoch(self, op):
        self.store(op, ("epoch", self.epoch % 2), self.epoch)

    def store_head(self, op):
        # A ring of two blocks: the third takes the place of the first.
        self.store(op, ("head",), max(0, self.block + 1 - 2))

    def store_block(self, op):
        for half in range(2):
            self.store(op, ("block", self.block % 2, half), self.block)

    def store_tail(self, op):
        self.block += 1
        self.store(op, ("tail",), self.block)

    def store_schema(self, op):
        self.fields += 1
        self.store(op, ("schema", self.fields), 1)

    def store_schema_bytes(self, op):
        self.store(op, ("schema_bytes",), self.fields)

    def store_number(self, op):
        self.store(op, ("number", self.row % 2), fields_of_row(self.row))

    def store_values(self, op):
        for i in range(fields_of_row(self.row)):
            self.store(op, ("value", self.row % 2, i), self.row)

    def store_seq(self, op):
        self.store(op, ("seq", self.row % 2), self.row)

    def store_latest(self, op):
        self.store(op, ("latest",), self.row)

    def store_state(self, op):
        self.store(op, ("state",), 2)


def fields_of_row(row):
    return 1 if row < 3 else 2


# ---- Readers ----------------------------------------------------------------------

def has_text(path, function, pattern):
    return re.search(pattern, body(path, function)) is not None


PREAD_FENCE = "tele_attach_pread: tele_fence_acquire()"
LOOKS = {
    "copy_chunk: epoch again": has_text(OPEN, "copy_chunk", r"epoch == header\[TELE_CHUNK_EPOCH\]"),
    "copy_block: head again": has_text(BLOCKS, "copy_block", r"is_overtaken\(attach\)") and
    has_text(BLOCKS, "is_overtaken", r"TELE_CONTROL_HEAD\] <= attach->ring_cursor"),
    "try_latest: seq again": has_text(ATTACH, "try_latest", r"again\[0\] != front\[0\]"),
    "try_latest: number again": has_text(ATTACH, "try_latest", r"again\[1\] != front\[1\]"),
    "tele_attach_next_sealed: control again": has_text(
        BLOCKS, "tele_attach_next_sealed", r"> attach->layout.ring_bytes\) \{[^}]*tele_attach_read_control"),
}


def looks_again(name):
    return LOOKS[name] and left_out != name


class Reader:
    """Steps of one way through a reader: what it finds is assumed, see machine.py."""

    def __init__(self):
        self.steps = []
        pread = [meaning_of(op) for op in ops_of(ATTACH, "tele_attach_pread")]
        self.has_fence = pread == ["fence"] and left_out != PREAD_FENCE

    def pread(self, *loads):
        """One call: its words come in any order; then the fence."""
        for place, reg, want in loads:
            self.steps.append(Step("ld", place, reg=reg, want=want))
        if self.has_fence:
            self.steps.append(Step("fence", order=ORDERS["tele_fence_acquire"]))


def word(place, reg, value=None):
    return place, reg, None if value is None else lambda found: found == value


def expect_calls(path, function, expected):
    """The reads of a function are those that the model makes, in that order."""
    found = [meaning_of(op) for op in ops_of(path, function)]
    if found != expected:
        raise LookupError("%s reads %s; the model %s" % (function, found, expected))


def chunk_reader(chunk, epoch, used):
    """copy_chunk, where that chunk is the newest, with that epoch and used."""
    expect_calls(OPEN, "copy_chunk", ["epochs", "header", "frames", "epoch again"])
    reader = Reader()
    for i in range(2):
        if i == chunk:
            reader.pread(word(("epoch", i), "epoch", epoch))
        else:
            reader.pread((("epoch", i), None, lambda e: e < epoch))
    reader.pread(word(("used", chunk), "used", used), word(("first", chunk), "first"),
                 word(("fields", chunk), "fields"))
    if used:
        reader.pread(*[word(("frame", chunk, i), "frame%d" % i) for i in range(used)])
    again = looks_again("copy_chunk: epoch again")
    reader.pread((("epoch", chunk), None, (lambda e: e == epoch) if again else None))
    return reader
