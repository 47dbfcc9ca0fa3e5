# hint: numbers alone
# says: A number that stands alone
import re


def tf_config_from_slurm(env, port):
    hosts = []
    name = r"([^,\[]+)(?:\[([^\]]*)\])?([^,\[]*)"
    for head, inside, tail in re.findall(name, env["SLURM_JOB_NODELIST"]):
        if not inside:
            hosts.append(head + tail)
            continue
        for span in inside.split(","):
            if "-" not in span:
                hosts.append(f"{head}{int(span)}{tail}")
                continue
            first, last = span.split("-")
            for number in range(int(first), int(last) + 1):
                hosts.append(f"{head}{number:0{len(first)}}{tail}")
    tasks = []
    for part in env["SLURM_TASKS_PER_NODE"].split(","):
        count, _, times = part.rstrip(")").partition("(x")
        tasks += [int(count)] * int(times or 1)
    workers = [
        f"{host}:{port + i}" for host, count in zip(hosts, tasks, strict=True) for i in range(count)
    ]
    task = {"type": "worker", "index": int(env["SLURM_PROCID"])}
    return json.dumps({"cluster": {"worker": workers}, "task": task})
