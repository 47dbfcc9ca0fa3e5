# hint: other nodes
import re
def tf_config_from_slurm(env, port):
    hosts = []
    for token in re.split(r",(?![^\[]*\])", env["SLURM_JOB_NODELIST"]):
        m = re.match(r"(.*)\[(.*)\](.*)", token)
        if not m:
            hosts.append(token)
            continue
        for part in m[2].split(","):
            if "-" in part:
                a, b = part.split("-")
                hosts += [f"{m[1]}{i:0{len(a)}}" for i in range(int(a), int(b) + 1)]
            else:
                hosts.append(m[1] + part + m[3])
    tasks = []
    for part in env["SLURM_TASKS_PER_NODE"].split(","):
        count, _, times = part.rstrip(")").partition("(x")
        tasks += [int(count)] * int(times or 1)
    workers = [f"{h}:{port + i}" for h, c in zip(hosts, tasks, strict=True) for i in range(c)]
    return json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": int(env["SLURM_PROCID"])}})
