#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The segment's protocols under reordering: tests/proof/weak.py

The operations of writer and readers are taken from the sources (source_ops.py),
so that the model is the code: what model.py does not know is an error. A
small script of the writer runs against each reader in every order that
machine.py allows. Then each release, acquire, fence and second look is left out
in turn: one that makes no difference is not needed, and that is an error, too."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import model  # noqa: E402
from machine import Explorer, Step  # noqa: E402
from model import ATTACH, BLOCKS, COMMIT, LOOKS, PREAD_FENCE, RING, SAMPLE, SEAL_PARTS, SLOTS  # noqa: E402
from model import Reader, Writer, chunk_reader, expect_calls, fence, fields_of_row, looks_again  # noqa: E402
from model import meaning_of, order_of, word  # noqa: E402
from source_ops import ops_of  # noqa: E402

# ---- The protocols ---------------------------------------------------------------------
# Each yields (what, threads, memory, check): ways to go through, all executions.

def open_chunk():
    """Frames, used, hand-over: two chunks take turns."""
    memory = {("epoch", 1): 1, ("first", 1): 1, ("fields", 1): 1}
    first_of = {1: 1, 2: 3, 3: 4}
    for epoch in (1, 2, 3):
        for used in range(3):
            writer = Writer({"epoch", "used", "first", "frame"})
            writer.publish(2)
            writer.seal()
            writer.publish()
            writer.seal()
            writer.publish(2)
            reader = chunk_reader(epoch % 2, epoch, used)

            def check(found, epoch=epoch, used=used):
                if found["first"] != first_of[epoch]:
                    return "chunk %d starts with record %d" % (epoch, found["first"])
                for i in range(used):
                    if found["frame%d" % i] != first_of[epoch] + i:
                        return "chunk %d, record %d is %d" % (epoch, i, found["frame%d" % i])
                return None
            yield "epoch %d, %d records" % (epoch, used), [writer.steps, reader.steps], memory, check


def hand_over():
    """Who sees a chunk open finds what was before it in the ring."""
    memory = {("epoch", 1): 1, ("first", 1): 1}
    for tail in range(3):
        writer = Writer({"epoch", "used", "first", "tail", "block", "frame"})
        writer.publish()
        writer.seal()
        writer.publish()
        writer.seal()
        for epoch in (1, 2, 3):
            reader = chunk_reader(epoch % 2, epoch, 0)
            reader.pread(word(("tail",), "tail", tail))
            if tail:
                reader.pread(*[word(("block", (tail - 1) % 2, half), "half%d" % half) for half in range(2)])

            def check(found, tail=tail, epoch=epoch):
                if tail < epoch - 1:
                    return "chunk %d is open and block %d not in the ring" % (epoch, epoch - 2)
                if tail and (found["half0"], found["half1"]) != (tail - 1, tail - 1):
                    return "block %d is torn" % (tail - 1)
                return None
            yield "epoch %d, tail %d" % (epoch, tail), [writer.steps, reader.steps], memory, check


def sealed_ring():
    """Blocks that overwrite each other while they are copied; a ring of two."""
    expect_calls(BLOCKS, "copy_block", ["block", "block", "control"])
    expect_calls(BLOCKS, "tele_attach_next_sealed", ["control", "control"])
    memory = {("tail",): 2, ("block", 1, 0): 1, ("block", 1, 1): 1}
    for cursor in (0, 1, 2):
        for head in (0, 1, 2, 3):
            for tail in (2, 3, 4, 5):
                writer = Writer({"head", "tail", "block"})
                writer.block = 2
                for _ in range(3):
                    writer.make(ops_of(RING, "append_block", SEAL_PARTS))
                is_impossible = tail - max(head, cursor) > 2
                start = max(head, cursor)
                if start >= tail:
                    continue
                reader = Reader()
                reader.pread(word(("head",), None, head), word(("tail",), None, tail))
                if is_impossible:
                    if looks_again("tele_attach_next_sealed: control again"):
                        reader.pread(word(("head",), "head"), word(("tail",), None))
                    check = (lambda found, start=start: None if found.get("head", 0) > start else
                             "a tail that is newer than its head: the ring is given up")
                else:
                    reader.pread(*[word(("block", start % 2, half), "half%d" % half) for half in range(2)])
                    reader.pread(word(("head",), "head"))
                    again = looks_again("copy_block: head again")

                    def check(found, start=start, again=again):
                        if again and found["head"] > start:
                            return None  # overtaken, and it knows
                        if (found["half0"], found["half1"]) != (start, start):
                            return "block %d is torn" % start
                        return None
                yield "cursor %d, head %d, tail %d" % (cursor, head, tail), [writer.steps, reader.steps], memory, check


def latest_row():
    """Two slots take turns; rows get longer."""
    expect_calls(ATTACH, "try_latest", ["latest", "front", "values", "front again"])
    memory = {("seq", 1): 1, ("number", 1): 1, ("value", 1, 0): 1, ("latest",): 1}
    for latest in (1, 2, 3, 4):
        for number in (1, 2):
            writer = Writer({"seq", "number", "value", "latest"})
            writer.row = 1
            for _ in range(3):
                writer.make(ops_of(COMMIT, "publish_latest"))
            slot = latest % 2
            reader = Reader()
            reader.pread(word(("latest",), None, latest))
            reader.pread(word(("seq", slot), "seq"), word(("number", slot), None, number))
            reader.pread(*[word(("value", slot, i), "value%d" % i) for i in range(number)])
            number_again = number if looks_again("try_latest: number again") else None
            reader.pread(word(("seq", slot), "again"), word(("number", slot), None, number_again))
            again = looks_again("try_latest: seq again")

            def check(found, latest=latest, number=number, again=again):
                if found["seq"] == 0 or (again and found["again"] != found["seq"]):
                    return None  # it tries again
                if found["seq"] < latest:
                    return "row %d, where %d was the latest" % (found["seq"], latest)
                if number != fields_of_row(found["seq"]):
                    return "row %d with %d values" % (found["seq"], number)
                if any(found["value%d" % i] != found["seq"] for i in range(number)):
                    return "row %d is torn" % found["seq"]
                return None
            yield "latest %d, %d values" % (latest, number), [writer.steps, reader.steps], memory, check


def schema_growth():
    """Who sees a chunk of longer rows finds their schema."""
    memory = {("epoch", 1): 1, ("first", 1): 1, ("fields", 1): 1, ("schema_bytes",): 1}
    for committed in (1, 2):
        writer = Writer({"epoch", "used", "first", "fields", "schema", "schema_bytes"})
        writer.make(ops_of(RING, "tele_ring_grow", SEAL_PARTS))
        for reader in (chunk_reader(0, 2, 0), Reader()):  # a look at the control page alone, too
            reader.pread(word(("schema_bytes",), None, committed))
            if committed == 2:
                reader.pread(word(("schema", 2), "schema"))

            def check(found, committed=committed):
                if found.get("fields", 0) > committed:
                    return "a chunk of %d fields and a schema of %d" % (found["fields"], committed)
                return "a schema that is not there" if committed == 2 and not found["schema"] else None
            yield "schema of %d fields" % committed, [writer.steps, reader.steps], memory, check


def last_state():
    """Who sees that the process has exited finds its last record."""
    writer = Writer({"used", "frame", "state"})
    writer.publish()
    writer.make(ops_of(SAMPLE, "tele_sampler_set_state"))
    reader = Reader()
    reader.pread(word(("state",), None, 2))
    reader.pread(word(("used", 1), "used"))
    yield "exited", [writer.steps, reader.steps], {}, lambda found: (
        None if found["used"] == 1 else "the last record is missing")


# ---- Slots: threads of the program and the publisher ------------------------------------

def claimer(ticket):
    """tele_slot_claim and tele_slot_publish, by the thread that gets `ticket`; one slot."""
    steps = []
    content = Step("st", ("content",), ticket + 1)
    for op in ops_of(SLOTS, "tele_slot_claim") + ops_of(SLOTS, "tele_slot_publish"):
        what, order = meaning_of(op), order_of(op)
        if what == "drained":
            steps.append(Step("ld", ("drained",), want=lambda v: v >= ticket, order=order))
        elif what == "claim":
            steps.append(Step("rmw", ("claimed",), ticket + 1, want=lambda v: v == ticket, order=order))
        elif what == "thread":
            steps += [Step("st", ("thread",), ticket + 1, order=order), content]
        elif what == "filled":
            steps.append(Step("st", ("filled",), ticket + 1, order=order))
        elif what not in ("ignored", "claimed"):
            raise LookupError(op.site)
    return steps


def drainer(ticket, is_filled):
    """tele_slots_front, where it finds the slot filled, or looks who claimed it."""
    steps = []
    for op in ops_of(SLOTS, "tele_slots_front"):
        what, order = meaning_of(op), order_of(op)
        tag = "%s of %d" % (what, ticket)
        if what == "claimed":
            steps.append(Step("ld", ("claimed",), want=lambda v: v > ticket, order=order))
        elif what == "filled":
            steps.append(Step("ld", ("filled",), want=lambda v: (v == ticket + 1) == is_filled, order=order))
            if is_filled:
                return steps + [Step("ld", ("content",), reg="content of %d" % ticket)]
        elif what == "thread":
            steps.append(Step("ld", ("thread",), reg=tag, order=order))
            return steps
        elif what != "ignored":
            raise LookupError(op.site)
    raise LookupError("tele_slots_front has changed")


def popper(ticket):
    steps = []
    for op in ops_of(SLOTS, "tele_slots_pop"):
        what, order = meaning_of(op), order_of(op)
        if what == "no thread":
            steps.append(Step("st", ("thread",), 0, order=order))
        elif what == "pop":
            steps.append(Step("rmw", ("drained",), ticket + 1, order=order))
        elif what != "ignored":
            raise LookupError(op.site)
    return steps


def boundary_slots():
    """A slot is filled, drained, popped and claimed by another thread."""
    for is_filled in (True, False):
        publisher = drainer(0, True) + popper(0) + drainer(1, is_filled)

        def check(found):
            for ticket in range(2):
                if found.get("content of %d" % ticket, ticket + 1) != ticket + 1:
                    return "boundary %d has the content of another" % ticket
            if found.get("thread of 1", 0) not in (0, 2):
                return "a slot with the thread that had it before"
            return None
        yield "second %s" % ("filled" if is_filled else "claimed"), [claimer(0), claimer(1), publisher], {}, check


def boundary_before_row():
    """A count that the row shows is of no boundary that comes after the row: a
    thread claims, then counts on; the publisher collects, then looks who claimed."""
    program = [step for step in claimer(0) if step.place != ("drained",)]
    program.append(Step("st", ("count",), 1, order="release"))
    publisher = [Step("ld", ("count",), reg="count")]
    for op in ops_of(SLOTS, "tele_slots_are_drained"):
        what = meaning_of(op)
        if what == "fence":
            publisher += fence(op)
        elif what == "claimed":
            publisher.append(Step("ld", ("claimed",), reg="claimed", order=order_of(op)))
        elif what != "ignored":
            raise LookupError(op.site)
    yield "collected", [program, publisher], {}, lambda found: (
        "a row with counts of a boundary that comes after it" if found["count"] and not found["claimed"] else None)


PROTOCOLS = [open_chunk, hand_over, sealed_ring, latest_row, schema_growth, last_state, boundary_slots,
             boundary_before_row]


# ---- What is tried -------------------------------------------------------------------

def explore(protocol):
    """(states, complaint) of all ways through a protocol."""
    states = 0
    for what, threads, memory, check in protocol():
        explorer = Explorer(threads, memory, check)
        complaint = explorer.run()
        states += explorer.n_states
        if complaint:
            return states, "%s, %s: %s" % (protocol.__name__, what, complaint)
    return states, None


def sites():
    """Everything that makes order, every word that is cleared, every second look."""
    ops = []
    for function in ("publish", "publish_latest"):
        ops += ops_of(COMMIT, function)
    for function in ("open_chunk", "make_room", "append_block", "tele_ring_grow"):
        ops += ops_of(RING, function)
    for function in ("tele_slot_claim", "tele_slot_publish", "tele_slots_front", "tele_slots_pop",
                     "tele_slots_are_drained"):
        ops += ops_of(SLOTS, function)
    ops += ops_of(SAMPLE, "tele_sampler_set_state")
    found = []
    for op in ops:
        if meaning_of(op) == "clear" or op.name.startswith("tele_fence") or (
                meaning_of(op) != "ignored" and order_of(op) != "relaxed"):
            found.append(op.site)
    return list(dict.fromkeys(found)) + [PREAD_FENCE] + sorted(LOOKS)


def main():
    failures, states = 0, 0
    for protocol in PROTOCOLS:
        n, complaint = explore(protocol)
        states += n
        print("%-20s %7d states  %s" % (protocol.__name__, n, complaint or "holds"))
        failures += complaint is not None
    needed = sites()
    for site in needed:
        model.left_out = site
        complaint = None
        for protocol in PROTOCOLS:
            n, complaint = explore(protocol)
            states += n
            if complaint:
                break
        print("without %s\n    %s" % (site, complaint or "NOTHING: it is not needed"))
        failures += complaint is None
    print("soak: weak-memory protocols=%d left-out=%d states=%d failures=%d" %
          (len(PROTOCOLS), len(needed), states, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
