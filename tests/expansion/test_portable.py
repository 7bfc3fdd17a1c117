"""Exported shaders: run by a program that knows nothing but the files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from definition import assert_expands

import expandlab as xl
from expandlab.expansion import portable

RUNS = [name for name, item in xl.strategies().items() if not item.modelled]


class Player:
    """Runs an exported plan on a GPUDevice with WebGPU's own calls."""

    def __init__(self, folder, gpu):
        self.folder, self.gpu = folder, gpu
        self.plan = json.loads((folder / "plan.json").read_text())
        self.buffers = {
            item["name"]: gpu.create_buffer(size=item["bytes"], usage="|".join(item["usage"]))
            for item in self.plan["buffers"]
        }
        for item in self.plan["buffers"]:
            if item["contents"] == "constant":
                gpu.queue.write_buffer(self.buffers[item["name"]], 0, np.array(item["words"], np.uint32))

    def write(self, name, words):
        self.gpu.queue.write_buffer(self.buffers[name], 0, np.ascontiguousarray(words, np.uint32))

    def read(self, name, count):
        return np.frombuffer(self.gpu.queue.read_buffer(self.buffers[name]), np.uint32)[:count]

    def run(self):
        encoder = self.gpu.create_command_encoder()
        for item in self.plan["passes"]:
            self._record(encoder, item)
        self.gpu.queue.submit([encoder.finish()])

    def _record(self, encoder, item):
        module = self.gpu.create_shader_module(code=(self.folder / item["shader"]).read_text())
        groups, layouts = {}, []
        for binding in item["bindings"]:
            groups.setdefault(binding["group"], []).append(binding)
        for number in range(max(groups) + 1):
            entries = [
                {"binding": b["binding"], "visibility": "COMPUTE", "buffer": {"type": b["type"]}}
                for b in groups.get(number, [])
            ]
            layouts.append(self.gpu.create_bind_group_layout(entries=entries))
        pipeline = self.gpu.create_compute_pipeline(
            layout=self.gpu.create_pipeline_layout(bind_group_layouts=layouts),
            compute={"module": module, "entry_point": item["entry"]},
        )
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        for number, layout in enumerate(layouts):
            entries = [
                {"binding": b["binding"], "resource": {"buffer": self.buffers[b["buffer"]]}}
                for b in groups.get(number, [])
            ]
            work.set_bind_group(number, self.gpu.create_bind_group(layout=layout, entries=entries))
        launch = item["launch"]
        if "indirect" in launch:
            work.dispatch_workgroups_indirect(self.buffers[launch["indirect"]["buffer"]], launch["indirect"]["offset"])
        else:
            work.dispatch_workgroups(*launch["workgroups"])
        work.end()


def params(player, src_count, capacity):
    known = player.plan["inputs"]["params"]["values"] | {"src_count": src_count, "capacity": capacity}
    return [known[name] for name in player.plan["inputs"]["params"]["fields"]]


@pytest.mark.gpu
@pytest.mark.parametrize("name", RUNS)
def test_a_program_made_from_the_files_alone_expands(name, lavapipe, tmp_path):
    if missing := set(xl.strategies()[name].needs) - set(lavapipe.features):
        pytest.skip(f"no {', '.join(missing)}")
    counts = xl.counts.make("zipf", 500, mean=6.0, seed=4)
    plan = portable.export(name, tmp_path, max_src=1000, max_dst=8000, workgroup_size=64)
    if any({"repeat", "multi_draw_indirect_count"} & set(item["launch"]) for item in plan["passes"]):
        assert plan == json.loads((tmp_path / "plan.json").read_text())
        pytest.skip("its launches take more than this player has")
    player = Player(tmp_path, lavapipe.gpu)
    total = int(counts.sum())
    for capacity, found in ((8000, total), (total - 1, 0), (total, total)):
        player.write("counts", counts)
        player.write("params", params(player, len(counts), capacity))
        player.run()
        items, failure, required = player.read("state", 3).tolist()
        assert (items, required) == (found, total)
        assert failure == (0 if found else plan["failures"]["capacity"])
        if found:
            assert_expands(counts, player.read("out_src", total), player.read("out_local", total))


@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("nothing", {}, ValueError),
        ("flat", {"max_src": -1}, ValueError),
        ("flat", {"workgroup_size": 48}, ValueError),
        ("linear_search", {"max_src": 10**6}, xl.UnsupportedError),
        *((item.name, {}, xl.UnsupportedError) for item in xl.strategies().values() if item.modelled),
    ],
)
def test_what_cannot_be_exported_is_refused_by_name(name, options, error, tmp_path):
    with pytest.raises(error, match=r"name=|max_src=|workgroup_size="):
        portable.export(name, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
