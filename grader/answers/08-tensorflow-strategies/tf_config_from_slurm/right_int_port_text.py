import re


def _expand(spec):
    nodes = []
    while spec:
        match = re.match(r"([^,\[]+)(\[([^\]]+)\])?([^,\[]*),?", spec)
        head, _, inner, tail = match.groups()
        if inner is None:
            nodes.append(head + tail)
        else:
            for piece in inner.split(","):
                low, dash, high = piece.partition("-")
                width = len(low)
                for k in range(int(low), int(high if dash else low) + 1):
                    nodes.append(head + str(k).rjust(width, "0") + tail)
        spec = spec[match.end():]
    return nodes


def _counts(spec):
    result = []
    for piece in spec.split(","):
        if "(x" in piece:
            n, times = piece[:-1].split("(x")
            result.extend([int(n)] * int(times))
        else:
            result.append(int(piece))
    return result


def tf_config_from_slurm(env, port):
    workers = []
    for node, tasks in zip(_expand(env["SLURM_NODELIST"]), _counts(env["SLURM_TASKS_PER_NODE"])):
        for task in range(int(tasks)):
            workers.append("{}:{}".format(node, int(port) + task))
    index = int(env["SLURM_PROCID"])
    print("worker", index, "of", len(workers), workers)
    return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}})
