"""Random small graphs, each determined by its seed: ranges, tags, usages, queues, devices, images, explicit edges."""

from __future__ import annotations

import random

import expandlab as xl

READS = ("storage", "storage", "copy", "uniform", "indirect", "index")
IMAGE_READS = ("storage", "sampled", "copy", "present", "color")


def random_graph(seed, *, devices=None, stages=True, images=True, most=9):
    """A graph that mostly compiles; what it reads is mostly written or imported."""
    rng = random.Random(seed)
    count = devices or rng.choice((1, 1, 2, 3))
    queues = [f"q{number}" for number in range(rng.choice((1, 1, 2, 3)))]
    graph = xl.FrameGraph({f"d{number}": queues for number in range(count)})
    for number in range(rng.randint(1, 4)):
        if images and rng.random() < 0.2:
            shape = {part: rng.randint(1, 2) for part in ("mips", "layers", "aspects")}
            graph.image(f"i{number}", imported=rng.random() < 0.5, **shape)
        else:
            graph.buffer(f"b{number}", rng.choice((4, 8, 300)), imported=rng.random() < 0.5)
    tags = rng.random() < 0.5
    explicit = rng.random() < 0.3
    spread = rng.random() < 0.4
    names = [f"p{number}" for number in range(rng.randint(1, most))]
    for name in names:
        accesses = [
            _access(rng, graph, rng.choice(list(graph.resources)), tags, stages) for _ in range(rng.randint(0, 3))
        ]
        options = {}
        if explicit and rng.random() < 0.3:
            options[rng.choice(("after", "before"))] = [rng.choice(names)]
        device = rng.choice(list(graph.devices))
        if spread and rng.random() < 0.3:
            device = rng.sample(list(graph.devices), rng.randint(1, count))
        graph.add_pass(
            name, accesses, device=device, queue=rng.choice(queues), side_effect=rng.random() < 0.3,
            cost_us=rng.choice((None, 1.0, 5.0, 20.0)), **options,
        )  # fmt: skip
    for name in graph.resources:
        if rng.random() < 0.5:
            graph.output(name)
    return graph


def random_pipeline(seed, *, devices=None, stages=True, most=9):
    """A graph whose passes fill one buffer each from those filled shortly before, so that memory is used again."""
    rng = random.Random(seed)
    count = devices or rng.choice((1, 1, 2))
    queues = [f"q{number}" for number in range(rng.choice((1, 1, 2)))]
    graph = xl.FrameGraph({f"d{number}": queues for number in range(count)})
    passes = rng.randint(3, most)
    for number in range(passes):
        graph.buffer(f"b{number}", rng.choice((4, 8, 8, 300)))
    for number in range(passes):
        accesses = [{"resource": f"b{number}", "mode": "write"}]
        for other in {max(0, number - rng.randint(1, 2)) for _ in range(rng.randint(1, 2))} - {number}:
            mode = "read_write" if rng.random() < 0.2 else "read"
            usage = rng.choice(READS if mode == "read" else ("storage", "copy")) if stages else "storage"
            accesses.append({"resource": f"b{other}", "mode": mode, "usage": usage})
        if stages and rng.random() < 0.3:
            accesses[0]["usage"] = "copy"
        device, queue = rng.choice(list(graph.devices)), rng.choice(queues)
        graph.add_pass(f"p{number}", accesses, device=device, queue=queue, side_effect=rng.random() < 0.5)
    graph.output(f"b{passes - 1}")
    return graph


def _access(rng, graph, name, tags, stages):
    resource = graph.resources[name]
    # Early passes mostly write, so that later ones have something to read.
    written = any(a.resource == name and a.writes for item in graph.passes.values() for a in item.accesses)
    modes = ("read", "read", "write", "read_write") if written or resource.imported else ("write",) * 9 + ("read",)
    access = {"resource": name, "mode": rng.choice(modes)}
    if resource.kind == "buffer":
        if rng.random() < 0.5 and (written or rng.random() < 0.3):
            low, high = sorted(rng.sample(range(9), 2))
            access["range"] = (resource.size * low // 8, resource.size * high // 8)
        if stages and rng.random() < 0.5:
            access["usage"] = rng.choice(READS if access["mode"] == "read" else ("storage", "copy"))
    else:
        for part in ("mips", "layers", "aspects"):
            if rng.random() < 0.4:
                low = rng.randrange(getattr(resource, part))
                access[part] = (low, rng.randint(low, getattr(resource, part)))
        if stages and rng.random() < 0.6:
            access["usage"] = rng.choice(IMAGE_READS if access["mode"] == "read" else ("storage", "copy", "color"))
    if tags and access["mode"] != "read" and rng.random() < 0.7:
        access["independent"] = rng.choice("ssst")
    return access
