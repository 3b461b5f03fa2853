# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
"""A machine that reorders: every execution of a few straight-line threads.

Memory is one for all (multi-copy atomic, as ARMv8). Two operations of a thread
may go in either order unless they are on the same place, or an acquire, a
release or a fence forbids it. Dependencies through addresses, values and
branches order nothing here, so it allows more than ARMv8 does: a load is made
whenever it may be, and an execution whose loads did not find what the thread's
branches assumed is thrown away."""


class Step:
    """kind: ld, st, rmw, fence. A load keeps its value as `reg`; it may have to be `want`."""

    def __init__(self, kind, place=None, value=None, reg=None, want=None, order="relaxed", site=None):
        self.kind, self.place, self.value, self.reg, self.want = kind, place, value, reg, want
        self.order, self.site = order, site
        self.loads = kind in ("ld", "rmw")
        self.stores = kind in ("st", "rmw")
        self.acquires = order in ("acquire", "acq_rel")
        self.releases = order in ("release", "acq_rel")

    def __repr__(self):
        return "%s %s %s %s" % (self.kind, self.place, self.value if self.stores else self.reg, self.order)


def must_precede(first, second):
    if first.kind == "fence" or second.kind == "fence":
        fence, other = (first, second) if first.kind == "fence" else (second, first)
        if other.kind == "fence":
            return False
        if fence is second:  # other comes before the fence
            return other.loads if fence.order == "acquire" else True
        return other.stores if fence.order == "release" else True
    if first.place == second.place:
        return True
    return (first.loads and first.acquires) or (second.stores and second.releases)


def predecessors(thread):
    """For each step the bits of those that must be done before it."""
    before = []
    for j, second in enumerate(thread):
        bits = 0
        for i in range(j):
            if must_precede(thread[i], second):
                bits |= 1 << i | before[i]
        before.append(bits)
    return before


class Explorer:
    """Goes through all executions and calls `check` with the registers of each
    that comes to its end; stops at the first complaint."""

    def __init__(self, threads, memory, check):
        self.threads, self.check = threads, check
        self.before = [predecessors(thread) for thread in threads]
        self.places = sorted({s.place for t in threads for s in t if s.place is not None})
        self.index = {place: i for i, place in enumerate(self.places)}
        self.start = tuple(memory.get(place, 0) for place in self.places)
        self.n_states = 0
        self.complaint = None

    def run(self):
        done = tuple(0 for _ in self.threads)
        full = tuple((1 << len(thread)) - 1 for thread in self.threads)
        stack = [(done, self.start, ())]
        seen = set(stack)
        while stack:
            done, memory, registers = stack.pop()
            if done == full:
                self.complaint = self.check(dict(registers))
                if self.complaint:
                    break
                continue
            for state in self.successors(done, memory, registers):
                if state not in seen:
                    seen.add(state)
                    stack.append(state)
        self.n_states = len(seen)
        return self.complaint

    def successors(self, done, memory, registers):
        for t, thread in enumerate(self.threads):
            for i, step in enumerate(thread):
                if done[t] >> i & 1 or self.before[t][i] & ~done[t]:
                    continue
                after = done[:t] + (done[t] | 1 << i,) + done[t + 1:]
                if step.kind == "fence":
                    yield after, memory, registers
                    continue
                at = self.index[step.place]
                value = memory[at]
                if step.loads and step.want is not None and not step.want(value):
                    continue
                found = registers
                if step.loads and step.reg is not None:
                    found = tuple(sorted(registers + ((step.reg, value),)))
                changed = memory
                if step.stores:
                    changed = memory[:at] + (step.value,) + memory[at + 1:]
                yield after, changed, found
