# hint: nodes missing
def hosts(text):
    """Walk through the characters; a comma outside of brackets ends a name."""
    names, depth, word = [], 0, ""
    for character in text + ",":
        if character == "," and depth == 0:
            names += expand(word)
            word = ""
            continue
        depth += {"[": 1, "]": -1}.get(character, 0)
        word += character
    return names


def expand(word):
    if "[" not in word:
        return [word]
    before, rest = word.split("[", 1)
    inside, after = rest.split("]", 1)
    found = []
    for part in inside.split(","):
        first, last = (part.split("-") * 2)[:2]
        for number in range(int(first), int(last) + (first == last)):
            found += expand(before + str(number).zfill(len(first)) + after)
    return found


def tf_config_from_slurm(env, port):
    counts = []
    for part in env["SLURM_TASKS_PER_NODE"].split(","):
        count, _, times = part.partition("(x")
        counts += [int(count)] * int(times.rstrip(")") or 1)
    workers = []
    for host, count in zip(hosts(env["SLURM_JOB_NODELIST"]), counts):
        workers += [f"{host}:{port + i}" for i in range(count)]
    task = {"type": "worker", "index": int(env["SLURM_PROCID"])}
    return json.dumps({"cluster": {"worker": workers}, "task": task})
