# hint: zeros lost
import itertools
import re


def tf_config_from_slurm(env, port):
    def values(group):
        for part in group.split(","):
            first, _, last = part.partition("-")
            last = last or first
            yield from (f"{n:0{len(last)}d}" for n in range(int(first), int(last) + 1))

    def names(item):
        parts = re.split(r"\[([^\]]*)\]", item)
        return ["".join(c) for c in itertools.product(*(list(values(p)) if i % 2 else [p] for i, p in enumerate(parts)))]

    hosts = [n for item in re.findall(r"(?:[^,\[]|\[[^\]]*\])+", env["SLURM_JOB_NODELIST"]) for n in names(item)]
    tasks = [int(n) for n, t in re.findall(r"(\d+)(?:\(x(\d+)\))?", env["SLURM_TASKS_PER_NODE"]) for _ in range(int(t or 1))]
    workers = [f"{h}:{port + i}" for h, n in zip(hosts, tasks) for i in range(n)]
    return json.dumps(
        {"cluster": {"worker": workers}, "task": {"type": "worker", "index": int(env["SLURM_PROCID"])}}
    )
