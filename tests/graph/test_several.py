"""Plans on several devices: the same outputs as on one, whatever is where; and a device that fails on the way."""

from __future__ import annotations

import random

import numpy as np
import pytest
from drivers import driver

import expandlab as xl

WORDS = 48
# Buffers by name; each pass's kernel reads its words, mixes them, and writes what it declares. One thread: the order of
# its words is part of the definition.
ACCESS = {"read": "read", "write": "read_write", "read_write": "read_write"}
HEAD = "@compute @workgroup_size(1)\nfn main() {\n    var acc = %du;\n"


class RandomGraph:
    """A graph with kernels, and the same in NumPy in submission order."""

    def __init__(self, seed, count, passes=14):
        self.rng = random.Random(seed)
        self.graph = xl.FrameGraph({f"d{number}": ["compute"] for number in range(count)})
        self.count, self.steps = count, []
        self.inputs = {}
        for number in range(4):
            name = f"b{number}"
            imported = self.rng.random() < 0.5
            self.graph.buffer(name, 4 * WORDS, imported=imported)
            if imported:
                self.inputs[name] = np.array([self.rng.getrandbits(32) for _ in range(WORDS)], np.uint32)
            else:
                self._add([(name, "write", (0, WORDS))])
        for _ in range(passes):
            names = self.rng.sample([f"b{number}" for number in range(4)], self.rng.randint(1, 3))
            self._add([(name, self.rng.choice(("read", "write", "read_write")), self._range()) for name in names])
        for name in self.rng.sample([f"b{number}" for number in range(4)], 3):
            self.graph.output(name)

    def _range(self):
        low, high = sorted(self.rng.sample(range(WORDS + 1), 2))
        return low, high

    def _add(self, accesses):
        name, seed = f"p{len(self.steps)}", self.rng.getrandbits(16)
        self.steps.append((seed, accesses))
        text = [
            f"@group(0) @binding({number}) var<storage, {ACCESS[mode]}> {buffer}: array<u32>;"
            for number, (buffer, mode, _) in enumerate(accesses)
        ]
        text.append(HEAD % seed)
        for buffer, mode, (low, high) in accesses:
            if mode != "write":
                text.append(f"for (var i = {low}u; i < {high}u; i++) {{ acc = acc * 31u + {buffer}[i]; }}")
        for buffer, mode, (low, high) in accesses:
            if mode == "write":
                text.append(f"for (var i = {low}u; i < {high}u; i++) {{ {buffer}[i] = acc + i * 2654435761u; }}")
            if mode == "read_write":
                text.append(f"for (var i = {low}u; i < {high}u; i++) {{ {buffer}[i] = {buffer}[i] * 3u + acc; }}")
        kernel = xl.Kernel("\n".join([*text, "}"]), "main", [buffer for buffer, _, _ in accesses], (1, 1, 1))
        declared = [(buffer, mode, (4 * low, 4 * high)) for buffer, mode, (low, high) in accesses]
        self.graph.add_pass(name, declared, kernel=kernel, device=f"d{self.rng.randrange(self.count)}")

    def expected(self):
        """The outputs by the definition: passes one after the other, in Python's integers."""
        memory = {f"b{number}": [0] * WORDS for number in range(4)}
        memory |= {name: array.tolist() for name, array in self.inputs.items()}
        for acc, accesses in self.steps:
            for buffer, mode, (low, high) in accesses:
                if mode != "write":
                    for i in range(low, high):
                        acc = (acc * 31 + memory[buffer][i]) % 2**32
            for buffer, mode, (low, high) in accesses:
                for i in range(low, high):
                    if mode == "write":
                        memory[buffer][i] = (acc + i * 2654435761) % 2**32
                    if mode == "read_write":
                        memory[buffer][i] = (memory[buffer][i] * 3 + acc) % 2**32
        return {name: np.array(memory[name], np.uint32) for name in self.graph.outputs}


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert np.array_equal(found[name], array), name


@pytest.fixture(scope="module")
def five():
    """Five devices, opened on one software adapter."""
    driver("lavapipe")
    return [xl.device("lavapipe") for _ in range(5)]


@pytest.mark.gpu
@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_outputs_do_not_depend_on_the_devices(count, seed, five):
    made = RandomGraph(100 * count + seed, count)
    expected = made.expected()
    for mode in ("dag", "chain"):
        plan = made.graph.compile(mode)
        same(plan.run(five[0], made.inputs), expected)
        same(plan.run(five, made.inputs), expected)
        assert bool(plan.copies) <= (count > 1)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(4))
def test_two_drivers_work_together(seed, five):
    made = RandomGraph(seed, 2)
    devices = {"d0": five[0], "d1": driver("swiftshader")}
    same(made.graph.compile().run(devices, made.inputs), made.expected())


@pytest.mark.gpu
def test_a_prepared_plan_runs_again_and_says_when_everything_happened(five):
    made = RandomGraph(7, 3)
    plan = made.graph.compile()
    with plan.programs(dict(zip(plan.graph.devices, five, strict=False))) as programs:
        for timed in (True, False, True):
            run = programs.run(made.inputs, timed=timed)
            same(run.arrays, made.expected())
            passes = {span.name: span for span in run.spans if span.kind == "pass"}
            assert set(passes) == set(plan.order)
            assert sum(span.kind == "copy" for span in run.spans) == len(plan.copies)
            for first, second in plan.edges:
                assert passes[first].begin_us <= passes[second].end_us
                if plan.devices[first] != plan.devices[second]:
                    assert passes[first].end_us <= passes[second].begin_us


@pytest.mark.gpu
def test_a_device_that_fails_is_named_and_the_others_go_on(five, monkeypatch):
    made = RandomGraph(11, 3)
    plan = made.graph.compile()
    from expandlab.graph import several

    submit, last = several._Share.submit, plan.order[-1]

    def breaks(share, item, wait):
        if item == last:
            raise xl.DeviceError("the device was lost.")
        submit(share, item, wait)

    monkeypatch.setattr(several._Share, "submit", breaks)
    with pytest.raises(
        xl.DeviceError, match=rf"device '{plan.devices[last]}' \(llvmpipe.*'{last}'.*In flight: .*{last}"
    ):
        plan.run(five, made.inputs)
    monkeypatch.undo()
    # On the two that are left.
    names = list(plan.graph.devices)
    left = {name: five[1 + number % 2] for number, name in enumerate(names)}
    same(plan.run(left, made.inputs), made.expected())


def pipeline():
    """produce -> left on d0, right on d1, join on d0: (plan, inputs, the output by the definition)."""
    graph = xl.FrameGraph({"d0": ["compute"], "d1": ["compute"]})
    start = np.arange(WORDS, dtype=np.uint32)
    graph.buffer("start", 4 * WORDS, imported=True)
    for name in ("data", "left", "right", "joined"):
        graph.buffer(name, 4 * WORDS)
    for name, device, sources, target in (
        ("produce", "d0", ["start"], "data"),
        ("on_left", "d0", ["data"], "left"),
        ("on_right", "d1", ["data"], "right"),
        ("join", "d0", ["left", "right"], "joined"),
    ):
        text = "".join(
            f"@group(0) @binding({at}) var<storage, {'read' if one != target else 'read_write'}> {one}: array<u32>;\n"
            for at, one in enumerate([*sources, target])
        )
        total = " + ".join(f"{one}[id.x] * {at + 3}u" for at, one in enumerate(sources))
        text += f"@compute @workgroup_size({WORDS}) fn main(@builtin(global_invocation_id) id: vec3u) {{"
        kernel = xl.Kernel(f"{text} {target}[id.x] = {total} + 1u; }}", "main", [*sources, target], (1, 1, 1))
        accesses = [*((one, "read") for one in sources), (target, "write")]
        graph.add_pass(name, accesses, device=device, kernel=kernel)
    graph.output("joined")
    one = start * np.uint32(3) + np.uint32(1)
    half = one * np.uint32(3) + np.uint32(1)
    return graph.compile(), {"start": start}, half * np.uint32(3) + half * np.uint32(4) + np.uint32(1)


# Which device is lost, before which pass is submitted; what the error says of it, and what was under way for certain.
LOST = [
    ("d0", "produce", "in pass 'produce'", {("d0", "produce")}),
    ("d1", "on_right", "in pass 'on_right'", {("d1", "on_right")}),
    ("d0", "on_right", "after its last pass|in pass|reading for pass", set()),
    ("d1", "join", "after its last pass|in pass|reading for pass", set()),
]


@pytest.mark.gpu
@pytest.mark.parametrize(("lost", "at", "told", "flying"), LOST)
@pytest.mark.parametrize("timed", [True, False])
def test_a_lost_device_is_told_with_its_passes_and_the_plan_runs_on_what_is_left(
    lost, at, told, flying, timed, five, monkeypatch
):
    plan, inputs, expected = pipeline()
    devices = {"d0": xl.device("lavapipe"), "d1": xl.device("lavapipe")}
    from expandlab.graph import several

    submit = several._Share.submit

    def breaks(share, item, wait):
        if item == at:
            with devices[lost].lock:
                devices[lost].gpu.destroy()
        submit(share, item, wait)

    monkeypatch.setattr(several._Share, "submit", breaks)
    with plan.programs(devices) as programs:
        if (lost, at) == ("d1", "join"):
            # All that d1 had to do is done and read: its loss is nobody's.
            assert np.array_equal(programs.run(inputs, timed=timed).arrays["joined"], expected)
            return
        with pytest.raises(xl.DeviceError, match=rf"device '{lost}' \(llvmpipe.*({told}).*lost.*In flight:") as caught:
            programs.run(inputs, timed=timed)
    assert set(caught.value.in_flight) >= flying
    assert all(f"{item!r} on {owner}" in str(caught.value) for owner, item in caught.value.in_flight)
    monkeypatch.undo()
    left = devices["d1" if lost == "d0" else "d0"]
    assert np.array_equal(plan.run({"d0": left, "d1": left}, inputs)["joined"], expected)
    assert np.array_equal(plan.run([left, five[0]], inputs)["joined"], expected)


@pytest.mark.gpu
def test_a_device_that_is_lost_from_the_start_is_named(five):
    plan, inputs, expected = pipeline()
    lost = xl.device("lavapipe")
    with plan.programs({"d0": five[0], "d1": lost}) as programs:
        assert np.array_equal(programs.run(inputs).arrays["joined"], expected)
        lost.gpu.destroy()
        with pytest.raises(xl.DeviceError, match=r"device 'd1'.*lost"):
            programs.run(inputs)
    with pytest.raises(xl.DeviceError, match="lost"):
        plan.run([five[0], lost], inputs)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("devices", "error", "told"),
    [
        ({"d0": "lavapipe"}, xl.GraphError, "none for"),
        ({"d0": "lavapipe", "d9": "lavapipe"}, xl.UnknownNameError, r"devices\['d9'\]"),
        (["lavapipe"], xl.GraphError, "1 of them"),
        (["lavapipe", "no such", "lavapipe"], xl.DeviceError, "no such"),
    ],
)
def test_devices_that_do_not_fit_the_graph_are_named(devices, error, told, five):
    made = RandomGraph(12, 3)
    plan = made.graph.compile()
    assert len(set(plan.devices.values())) == 3
    with pytest.raises(error, match=told):
        plan.run(devices, made.inputs)


@pytest.mark.gpu
def test_copies_of_part_of_a_word_are_refused(five):
    graph = xl.FrameGraph({"d0": ["compute"], "d1": ["compute"]})
    graph.buffer("data", 64)
    text = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n@compute @workgroup_size(1) fn main() {"
    kernel = xl.Kernel(text + " data[0] = 1u; }", "main", ["data"], (1, 1, 1))
    graph.add_pass("write", [("data", "write", (0, 6))], kernel=kernel)
    graph.add_pass("change", [("data", "read_write", (0, 6))], kernel=kernel, device="d1")
    graph.output("data")
    with pytest.raises(xl.GraphError, match="no whole words"):
        graph.compile().run(five, {})
