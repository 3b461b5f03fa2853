# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""The operations on shared memory of C functions, in the order of the source.

Not a C parser: it finds calls by name in a function's body, in the order in
which they stand there, and puts the calls of functions that are to be expanded
in their place. That is enough for code that is written to be read, and what it
does not find, the model does not know, which is an error."""

import os
import re

TOP = os.environ.get("PROOF_TOP") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

STORES = ["tele_ring_store_word", "tele_ring_store_alone", "tele_ring_store_bytes", "tele_ring_control",
          "tele_ring_note"]
OTHERS = ["tele_fence_release", "tele_fence_acquire", "tele_attach_pread", "tele_attach_read_control",
          r"atomic_\w+_explicit"]


class Op:
    """One operation: `site` is its place (function and text), `name` the function called."""

    def __init__(self, function, name, arguments):
        self.function, self.name, self.arguments = function, name, arguments
        self.text = "%s(%s)" % (name, ", ".join(arguments))
        self.site = "%s: %s" % (function, self.text)


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        text = file.read()
    return re.sub(r"//[^\n]*", "", text)


def body(path, function):
    text = read(path)
    found = re.search(r"^[a-z][^\n;{}]*\b%s\([^;{}]*\)\n\{\n(.*?)^\}" % re.escape(function), text, re.M | re.S)
    if not found:
        raise LookupError("%s: no function %s" % (path, function))
    return found.group(1)


def split_arguments(text, start):
    """The arguments of the call whose parenthesis opens at `start`, and where it ends."""
    depth, arguments, current = 0, [], ""
    for at in range(start, len(text)):
        c = text[at]
        depth += (c in "([{") - (c in ")]}")
        if depth == 0:
            arguments.append(current)
            return [" ".join(a.split()) for a in arguments], at + 1
        if c == "," and depth == 1:
            arguments.append(current)
            current = ""
        elif not (depth == 1 and c == "(" and at == start):
            current += c
    raise ValueError("a call without an end")


def ops_of(path, function, expand=()):
    """[Op] of the function; `expand` maps names of functions to their files."""
    expand = dict(expand)
    names = STORES + OTHERS + [re.escape(name) for name in expand if name != function]
    text = body(path, function)
    result = []
    for found in re.finditer(r"\b(%s)\(" % "|".join(names), text):
        name = found.group(1)
        if name in expand:
            result += ops_of(expand[name], name, expand)
            continue
        arguments, _ = split_arguments(text, found.end() - 1)
        result.append(Op(function, name, arguments))
    return result


def orders():
    """What the layer below says: {function: memory order} of stores and fences."""
    result = {}
    for name in ("tele_ring_store_word", "tele_ring_store_alone"):
        result[name] = re.search(r"memory_order_(\w+)", body("libtelemetry/publish/store.h", name)).group(1)
    for name in ("tele_ring_control", "tele_ring_note"):
        below = re.search(r"tele_ring_store_\w+", body("libtelemetry/publish/store.h", name)).group(0)
        result[name] = result[below]
    for name in ("tele_fence_release", "tele_fence_acquire"):
        fence = re.search(r"atomic_thread_fence\(memory_order_(\w+)\)", body("libtelemetry/fence.h", name))
        result[name] = fence.group(1)
    result["tele_ring_store_bytes"] = "plain"
    return result
