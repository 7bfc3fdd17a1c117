"""A second opinion on plans: the rules of the frame graph applied to single bytes and pairs of passes.

It shares no code with the planner, knows no intervals, and tries everything out. `problems(graph, plan)` lists what is
missing, superfluous or wrong; `faults(graph)` names the errors that a graph deserves instead of a plan.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise, product

STAGE = {
    "storage": {"COMPUTE_SHADER"}, "copy": {"COPY"}, "uniform": {"COMPUTE_SHADER"}, "indirect": {"DRAW_INDIRECT"},
    "index": {"INDEX_INPUT"}, "sampled": {"COMPUTE_SHADER"}, "color": {"COLOR_ATTACHMENT_OUTPUT"},
    "depth": {"EARLY_FRAGMENT_TESTS", "LATE_FRAGMENT_TESTS"}, "present": {"BOTTOM_OF_PIPE"},
}  # fmt: skip
READ = {
    "storage": {"SHADER_READ"}, "copy": {"TRANSFER_READ"}, "uniform": {"UNIFORM_READ"},
    "indirect": {"INDIRECT_COMMAND_READ"}, "index": {"INDEX_READ"}, "sampled": {"SHADER_READ"},
    "color": {"COLOR_ATTACHMENT_READ"}, "depth": {"DEPTH_STENCIL_ATTACHMENT_READ"}, "present": set(),
}  # fmt: skip
WRITE = {
    "storage": {"SHADER_WRITE"}, "copy": {"TRANSFER_WRITE"}, "color": {"COLOR_ATTACHMENT_WRITE"},
    "depth": {"DEPTH_STENCIL_ATTACHMENT_WRITE"},
}  # fmt: skip


@dataclass
class Touch:
    """All that one pass does with one byte."""

    owner: str
    reads: bool = False
    writes: bool = False
    tag: str | None = None
    read_stages: set = field(default_factory=set)
    write_stages: set = field(default_factory=set)
    read_access: set = field(default_factory=set)
    write_access: set = field(default_factory=set)
    layouts: set = field(default_factory=set)

    @property
    def overwrites(self):
        return self.writes and not self.reads and self.tag is None


def extent(resource):
    return resource.size if resource.kind == "buffer" else resource.mips * resource.layers * resource.aspects


def numbers(access, resource):
    """The bytes or subresources of an access."""
    if resource.kind == "buffer":
        low, high = access.range or (0, resource.size)
        return set(range(low, high))
    spans = [range(*(getattr(access, part) or (0, getattr(resource, part)))) for part in ("aspects", "layers", "mips")]
    return {(a * resource.layers + y) * resource.mips + m for a, y, m in product(*spans)}


def layout_of(access):
    if access.usage == "copy":
        return {"read": "TRANSFER_SRC_OPTIMAL", "write": "TRANSFER_DST_OPTIMAL", "read_write": "GENERAL"}[access.mode]
    return {
        "storage": "GENERAL", "sampled": "SHADER_READ_ONLY_OPTIMAL", "color": "COLOR_ATTACHMENT_OPTIMAL",
        "depth": "DEPTH_STENCIL_ATTACHMENT_OPTIMAL", "present": "PRESENT_SRC",
    }.get(access.usage, "GENERAL")  # fmt: skip


def touches(graph, item):
    """{(resource, byte): Touch} of one pass."""
    found = {}
    tags = defaultdict(set)
    for access in item.accesses:
        for number in numbers(access, graph.resources[access.resource]):
            key = (access.resource, number)
            touch = found.setdefault(key, Touch(item.name))
            if access.mode != "write":
                touch.reads = True
                touch.read_stages |= STAGE[access.usage]
                touch.read_access |= READ[access.usage]
            if access.mode != "read":
                touch.writes = True
                touch.write_stages |= STAGE[access.usage]
                touch.write_access |= WRITE[access.usage]
                tags[key].add(access.independent)
            touch.layouts.add(layout_of(access))
    for key, given in tags.items():
        found[key].tag = next(iter(given)) if len(given) == 1 else None
    return found


def survivors(graph):
    """Names of the passes that are kept, byte by byte from the end."""
    wanted = {
        (name, n)
        for name, r in graph.resources.items()
        if r.imported or name in graph.outputs
        for n in range(extent(r))
    }
    kept = []
    for item in reversed(list(graph.passes.values())):
        mine = touches(graph, item)
        if item.side_effect or any(t.writes and key in wanted for key, t in mine.items()):
            kept.append(item.name)
            wanted -= {key for key, t in mine.items() if t.overwrites}
            wanted |= {key for key, t in mine.items() if t.reads}
    return kept[::-1]


def groups_of(sequence, tags):
    """Touches of one byte in order, cut where they are not compatible."""
    groups = []
    for touch in sequence:
        if groups:
            last = groups[-1][-1]
            both_read = not touch.writes and not last.writes
            peers = touch.writes and last.writes and tags and touch.tag is not None and touch.tag == last.tag
            if both_read or peers:
                groups[-1].append(touch)
                continue
        groups.append([touch])
    return groups


def pairs_of(groups):
    """(producer, consumer) touches of one byte that are a hazard; None as producer for a read of nothing."""
    for place, group in enumerate(groups):
        writers = next((g for g in reversed(groups[:place]) if g[0].writes), [])
        for touch in group:
            before = list(groups[place - 1]) if place else []
            if touch.reads:
                before += [other for other in writers if other not in before]
                if not writers:
                    yield None, touch
            for other in before:
                yield other, touch


def kind_of(first, second):
    if first.writes and second.reads:
        return "RAW"
    return "WAW" if first.writes else "WAR"


class Facts:
    """What follows from a graph alone, for some devices of its passes."""

    def __init__(self, graph, devices, mode="dag", tags=True):
        self.graph, self.devices, self.mode, self.tags = graph, devices, mode, tags
        self.kept = survivors(graph)
        self.touch = {name: touches(graph, graph.passes[name]) for name in self.kept}
        self.sequence = defaultdict(list)
        for name in self.kept:
            for key, touch in self.touch[name].items():
                self.sequence[key].append(touch)
        self.groups = {key: groups_of(sequence, tags) for key, sequence in self.sequence.items()}
        self.hazards = set()
        self.unwritten = set()
        for (resource, number), groups in self.groups.items():
            for first, second in pairs_of(groups):
                if first is None:
                    if not graph.resources[resource].imported:
                        self.unwritten.add((second.owner, resource, number))
                else:
                    self.hazards.add((first.owner, second.owner, resource, number, kind_of(first, second)))
        self.explicit = set()
        for name in self.kept:
            item = graph.passes[name]
            self.explicit |= {(other, name) for other in item.after if other in self.touch}
            self.explicit |= {(name, other) for other in item.before if other in self.touch}
        self.before_reduction = set(self.explicit)
        if mode == "dag":
            self.before_reduction |= {(a, b) for a, b, *_ in self.hazards}
        else:
            self.before_reduction |= self.links()
            self.before_reduction |= {(a, b) for a, b, *_ in self.hazards if devices[a] != devices[b]}
        self.after = self.closure(self.before_reduction)

    def links(self):
        found = set()
        for resource in self.graph.resources:
            for device in set(self.devices.values()):
                users = [
                    n for n in self.kept if self.devices[n] == device and any(k[0] == resource for k in self.touch[n])
                ]
                found |= set(pairwise(users))
        return found

    def closure(self, edges):
        """{pass: all passes that a chain of edges leads to}."""
        after = {name: {b for a, b in edges if a == name} for name in self.kept}
        for middle in self.kept:
            for name in self.kept:
                if middle in after[name]:
                    after[name] |= after[middle]
        return after

    def reduced(self):
        return {
            (a, b)
            for a, b in self.before_reduction
            if not any(c in self.after[a] and b in self.after[c] for c in self.kept if c not in (a, b))
        }

    def split_peers(self):
        """Whether tagged peers of one byte are on different devices."""
        return any(
            len({self.devices[t.owner] for t in g}) > 1 for gs in self.groups.values() for g in gs if g[0].writes
        )


def faults(graph, devices, mode="dag", tags=True):
    """Names of the errors that compiling deserves."""
    facts = Facts(graph, devices, mode, tags)
    found = set()
    if facts.unwritten:
        found.add("UninitialisedReadError")
    if any(name in facts.after[name] for name in facts.kept):
        found.add("CycleError")
    if facts.split_peers():
        found.add("IndependenceError")
    return found


def shortest_cycle(graph, devices, mode="dag", tags=True):
    """How many passes the shortest cycle has."""
    facts = Facts(graph, devices, mode, tags)
    best = None
    for start in facts.kept:
        reached, steps = {start}, 0
        while reached and (best is None or steps < best):
            steps += 1
            reached = {b for a, b in facts.before_reduction if a in reached}
            if start in reached:
                best = steps if best is None else min(best, steps)
                break
            if steps > len(facts.kept):
                break
    return best


def problems(graph, plan):
    """Everything that is wrong with a plan of a graph, as sentences."""
    check = Check(graph, plan)
    for part in ("culling", "hazards", "edges", "order", "waits", "barriers", "copies", "memory", "layouts"):
        getattr(check, part)()
    return check.found


class Check:
    def __init__(self, graph, plan):
        self.graph, self.plan = graph, plan
        self.found = []
        self.facts = Facts(graph, plan.devices, plan.mode, plan.tags)
        self.place = {name: at for at, name in enumerate(plan.order)}
        self.queue = {name: (plan.devices[name], plan.queues[name]) for name in plan.order}
        self.lines = defaultdict(list)
        for name in plan.order:
            self.lines[self.queue[name]].append(name)

    def same(self, what, found, expected):
        found, expected = set(found), set(expected)
        self.found += [f"{what} missing: {item}" for item in sorted(expected - found, key=str)]
        self.found += [f"{what} too much: {item}" for item in sorted(found - expected, key=str)]

    def culling(self):
        self.same("culled pass", self.plan.culled, set(self.graph.passes) - set(self.facts.kept))
        self.same("pass in the order", self.plan.order, self.facts.kept)
        for name in self.facts.kept:
            item = self.graph.passes[name]
            if item.devices and self.plan.devices[name] not in item.devices:
                self.found.append(f"{name} may not run on {self.plan.devices[name]}")

    def hazards(self):
        found = []
        for h in self.plan.hazards:
            found += [(h.producer, h.consumer, h.resource, n, h.kind) for n in range(*h.range)]
        if len(found) != len(set(found)):
            self.found.append("a hazard is listed twice")
        self.same("hazard", found, self.facts.hazards)
        ends = {(h.producer, h.consumer, h.resource, h.kind, h.range[1]) for h in self.plan.hazards}
        for h in self.plan.hazards:
            if (h.producer, h.consumer, h.resource, h.kind, h.range[0]) in ends:
                self.found.append(f"a hazard's range could be longer: {h}")

    def edges(self):
        self.same("edge", [tuple(edge) for edge in self.plan.edges], self.facts.reduced())

    def order(self):
        for first, second in self.facts.before_reduction:
            if self.place[first] >= self.place[second]:
                self.found.append(f"{first} must come before {second} in the order")
        if len(self.lines) == 1 and self.plan.schedule == "depth":
            depth = {}
            for name in sorted(self.facts.kept, key=lambda n: sum(n in a for a in self.facts.after.values())):
                depth[name] = 1 + max([depth[a] for a, b in self.facts.before_reduction if b == name], default=0)
            submitted = list(self.graph.passes)
            if self.plan.order != sorted(self.facts.kept, key=lambda n: (depth[n], submitted.index(n))):
                self.found.append("the order is not by depth, then as submitted")

    def known(self, waits):
        """{pass: passes that waits, its own or of passes before it on its queue, have shown to be done}."""
        wanted = defaultdict(list)
        for wait in waits:
            wanted[wait.before].append((wait.device, wait.queue, wait.value))
        known = {}
        for name in self.plan.order:
            line = self.lines[self.queue[name]]
            mine = set(known[line[line.index(name) - 1]]) if line[0] != name else set()
            for device, queue, value in wanted[name]:
                for other in self.lines[device, queue][:value]:
                    if other not in known:
                        return None  # It waits for a pass behind it.
                    mine |= {other} | known[other]
            known[name] = mine
        return known

    def uncovered(self, waits):
        known = self.known(waits)
        across = [(a, b) for a, b in self.facts.before_reduction if self.queue[a] != self.queue[b]]
        return None if known is None else [(a, b) for a, b in across if a not in known[b]]

    def waits(self):
        waits = list(self.plan.waits)
        missing = self.uncovered(waits)
        if missing is None:
            self.found.append("a wait is for a pass behind the one that waits")
            return
        self.found += [f"wait missing: {second} for {first}" for first, second in missing]
        for at, wait in enumerate(waits):
            rest = waits[:at] + waits[at + 1 :]
            if not self.uncovered(rest):
                self.found.append(f"wait too much: {wait}")
            elif wait.value > 1:
                from dataclasses import replace

                if not self.uncovered([*rest, replace(wait, value=wait.value - 1)]):
                    self.found.append(f"wait for more than it needs: {wait}")

    def needs(self):
        """(producer, consumer, source stages, source access, destination stages, destination access) in one queue."""
        wanted = set()
        for groups in self.facts.groups.values():
            for first, second in pairs_of(groups):
                if first is not None:
                    wanted.add(self.need(first, second))
        wanted |= {self.need(first, second) for first, second in self.alias_pairs()}
        direct = {(a, b) for a, b, *_ in self.facts.hazards}
        for first, second in self.facts.reduced() - direct:
            stages = [
                frozenset().union(*(t.read_stages | t.write_stages for t in self.facts.touch[n].values()))
                or frozenset({"COMPUTE_SHADER"})
                for n in (first, second)
            ]
            wanted.add((first, second, stages[0], frozenset(), stages[1], frozenset()))
        known = self.known(self.plan.waits)
        return {n for n in wanted if self.queue[n[0]] == self.queue[n[1]] and n[0] not in known[n[1]]}

    def need(self, first, second):
        every = (first.read_stages | first.write_stages, second.read_stages | second.write_stages)
        if not first.writes:
            parts = (every[0], (), second.write_stages, ())
        else:
            parts = (every[0] if second.writes else first.write_stages, first.write_access, every[1],
                     second.read_access | second.write_access)  # fmt: skip
        return (first.owner, second.owner, *(frozenset(part) for part in parts))

    def covers(self, barrier, need):
        first, second, *parts = need
        queue = self.queue[barrier["before"]]
        return (
            queue == self.queue[first]
            and self.place[first] < self.place[barrier["before"]] <= self.place[second]
            and all(a <= b for a, b in zip(parts, barrier["parts"], strict=True))
        )

    def barriers(self):
        found = [
            {"before": b.before, "parts": [b.src_stages, b.src_access, b.dst_stages, b.dst_access]}
            for b in self.plan.barriers
        ]
        for b in self.plan.barriers:
            if b.kind != ("memory" if b.src_access | b.dst_access else "execution"):
                self.found.append(f"barrier of the wrong kind: {b}")
            if any("READ" in bit for bit in b.src_access):
                self.found.append(f"a read bit at the source: {b}")
        needs = self.needs()
        for need in needs:
            if not any(self.covers(b, need) for b in found):
                self.found.append(f"barrier missing: {need}")
        expected = self.expected_barriers(needs)
        self.same("barrier", map(frozen, found), map(frozen, expected))
        stages = set().union(*(need[2] | need[4] for need in needs)) if needs else set()
        if len(stages) == 1:
            self.nothing_to_spare(found, needs)

    def expected_barriers(self, needs):
        """Places first, then masks pass by pass, word for word."""
        found = []
        for name in self.plan.order:
            own = [need for need in needs if need[1] == name]
            bare = [
                need for need in own
                if not any(
                    self.covers({**b, "parts": [b["parts"][0], need[3], b["parts"][2], need[5]]}, need) for b in found
                )
            ]  # fmt: skip
            if bare:
                source, destination = (frozenset().union(*(need[at] for need in bare)) for at in (2, 4))
                found.append({"before": name, "parts": [source, frozenset(), destination, frozenset()]})
        for name in self.plan.order:
            grown = []
            for need in (need for need in needs if need[1] == name):
                if any(self.covers(b, need) for b in found):
                    continue
                last = [
                    b for b in found
                    if self.covers({**b, "parts": [b["parts"][0], need[3], b["parts"][2], need[5]]}, need)
                ][-1]  # fmt: skip
                grown.append((last, need))
            for barrier, need in grown:
                barrier["parts"][1] |= need[3]
                barrier["parts"][3] |= need[5]
        return found

    def nothing_to_spare(self, found, needs):
        for at, barrier in enumerate(found):
            if all(any(self.covers(b, need) for b in found[:at] + found[at + 1 :]) for need in needs):
                self.found.append(f"barrier not needed: {barrier}")
            for part in range(4):
                for bit in barrier["parts"][part]:
                    parts = list(barrier["parts"])
                    parts[part] = parts[part] - {bit}
                    less = [*found[:at], {**barrier, "parts": parts}, *found[at + 1 :]]
                    if all(any(self.covers(b, need) for b in less) for need in needs):
                        self.found.append(f"bit {bit} not needed: {barrier}")

    def copies(self):
        expected = {}
        for key in self.facts.sequence:
            resource = self.graph.resources[key[0]]
            valid = set(self.plan.devices.values()) if resource.imported else set()
            home = None
            groups = self.facts.groups[key]
            for name in self.plan.order:
                touch = self.facts.touch[name].get(key)
                if touch is None:
                    continue
                device = self.plan.devices[name]
                group = next(at for at, g in enumerate(groups) if touch in g)
                if not touch.overwrites and valid and device not in valid:
                    done = [t.owner for t in groups[group] if t.writes and self.place[t.owner] < self.place[name]]
                    if not done:
                        done = next(([t.owner for t in g] for g in reversed(groups[:group]) if g[0].writes), [])
                    expected[(*key, home, device, name)] = frozenset(done)
                    valid.add(device)
                if touch.writes:
                    valid, home = {device}, device
        found = defaultdict(list)
        for copy in self.plan.copies:
            for number in range(*copy.range):
                found[copy.resource, number, copy.source, copy.destination, copy.before].append(copy)
        self.same("copy", found, expected)
        self.found += [f"copied twice: {key}" for key, copies in found.items() if len(copies) > 1]
        if set(found) != set(expected):
            return
        for copy in self.plan.copies:
            rest = (copy.source, copy.destination, copy.before)
            low, high = copy.range
            writers = {expected[(copy.resource, number, *rest)] for number in range(low, high)}
            if len(writers) > 1:
                self.found.append(f"a copy of bytes with different last writers: {copy}")
            if expected.get((copy.resource, high, *rest)) in writers:
                self.found.append(f"a copy's range could be longer: {copy}")

    def memory(self):
        users = {
            name: [n for n in self.facts.kept if any(key[0] == name for key in self.uses(n))]
            for name, r in self.graph.resources.items()
            if r.kind == "buffer" and not r.imported
        }
        after = self.facts.after

        def apart(a, b):
            return any(
                x not in self.graph.outputs and all(w in after[v] for v in users[x] for w in users[y])
                for x, y in ((a, b), (b, a))
            )

        expected = set()
        declared = list(self.graph.resources)
        for device in set(self.plan.devices.values()):
            own = [r for r, names in users.items() if any(self.plan.devices[n] == device for n in names)]
            placed = []
            for name in sorted(own, key=lambda r: (-self.graph.resources[r].size, declared.index(r))):
                size, offset = self.graph.resources[name].size, 0
                while any(
                    not apart(name, other) and offset < start + length and start < offset + size
                    for other, start, length in placed
                ):
                    offset += 256
                placed.append((name, offset, size))
                expected.add((name, device, offset, size))
        self.same("placement", [(p.resource, p.device, p.offset, p.size) for p in self.plan.memory], expected)

    def uses(self, name):
        return self.facts.touch[name]

    def alias_pairs(self):
        """Hazards between two buffers in one place, byte by byte."""
        at = {(p.device, p.resource): p.offset for p in self.plan.memory}
        bytes_ = defaultdict(list)
        for name in self.plan.order:
            device = self.plan.devices[name]
            for (resource, number), touch in self.facts.touch[name].items():
                if (device, resource) in at:
                    # Groups are cut by tags; a tag speaks of one buffer.
                    own = Touch(**{**vars(touch), "tag": touch.tag and f"{resource} {touch.tag}"})
                    bytes_[device, at[device, resource] + number].append((resource, own))
        for sequence in bytes_.values():
            if len({resource for resource, _ in sequence}) > 1:
                resource_of = {id(touch): resource for resource, touch in sequence}
                for first, second in pairs_of(groups_of([touch for _, touch in sequence], self.plan.tags)):
                    if first is not None and resource_of[id(first)] != resource_of[id(second)]:
                        yield first, second

    def layouts(self):
        expected = set()
        copied = {
            (c.before, c.resource, n)
            for c in self.plan.copies
            for n in range(*c.range)
        }  # fmt: skip
        now = {}
        for name in self.plan.order:
            device = self.plan.devices[name]
            for (resource, number), touch in self.facts.touch[name].items():
                item = self.graph.resources[resource]
                if item.kind != "image":
                    continue
                key = (device, resource, number)
                new = next(iter(touch.layouts)) if len(touch.layouts) == 1 else "GENERAL"
                old = now.get(key, None if item.imported else "UNDEFINED")
                if (name, resource, number) in copied:
                    old = "TRANSFER_DST_OPTIMAL"
                if old is not None and old != new:
                    expected.add((name, resource, number, old, new))
                now[key] = new
        found = [
            (c.before, c.resource, n, c.old_layout, c.new_layout)
            for c in self.plan.layouts
            for n in range(*c.subresources)
        ]
        self.same("layout change", found, expected)


def frozen(barrier):
    return (barrier["before"], *(frozenset(part) for part in barrier["parts"]))
