import itertools
def tf_config_from_slurm(env, port):
    def expand(text):
        depth, start, names = 0, 0, []
        for i, ch in enumerate(text + ","):
            if ch == "," and depth == 0:
                names.append(text[start:i])
                start = i + 1
            depth += (ch == "[") - (ch == "]")
        for name in names:
            pieces = []
            while "[" in name:
                head, _, rest = name.partition("[")
                inside, _, name = rest.partition("]")
                options = []
                for part in inside.split(","):
                    if "-" in part:
                        a, b = part.split("-")
                        options += [str(i).zfill(len(a)) for i in range(int(a), int(b) + 1)]
                    else:
                        options.append(part)
                pieces += [[head], options]
            pieces.append([name])
            yield from map("".join, itertools.product(*pieces))
    hosts = list(expand(env["SLURM_STEP_NODELIST"]))
    counts = []
    for t in env["SLURM_STEP_TASKS_PER_NODE"].split(","):
        n, _, times = t.rstrip(")").partition("(x")
        counts.extend([int(n)] * int(times or "1"))
    addresses = []
    for host, count in zip(hosts, counts):
        addresses.extend(f"{host}:{port + i}" for i in range(count))
    assert len(addresses) == int(env["SLURM_NTASKS"])
    return json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": int(env["SLURM_PROCID"])}})
