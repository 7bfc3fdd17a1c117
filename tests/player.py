"""Runs exported shaders as a program that knows nothing but the files."""

from __future__ import annotations

import json

import numpy as np


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
