import re


def names(text):
    """The first bracket is replaced by each of its numbers in turn; the rest is expanded again."""
    found = re.search(r"\[([^\]]*)\]", text)
    if not found:
        return text.split(",") if text else []
    begin = text.rfind(",", 0, found.start()) + 1
    end = text.find(",", found.end())
    end = len(text) if end < 0 else end
    before, after = text[begin : found.start()], text[found.end() : end]
    mine = []
    for piece in found[1].split(","):
        low, _, high = piece.partition("-")
        for number in range(int(low), int(high or low) + 1):
            mine.append(f"{before}{number:0{len(low)}d}{after}")
    return names(text[: max(begin - 1, 0)]) + mine + names(text[end + 1 :])


def tf_config_from_slurm(env, port):
    tasks = re.sub(
        r"(\d+)\(x(\d+)\)", lambda m: ",".join([m[1]] * int(m[2])), env["SLURM_TASKS_PER_NODE"]
    )
    workers = [
        f"{node}:{port + i}"
        for node, count in zip(names(env["SLURM_NODELIST"]), tasks.split(","))
        for i in range(int(count))
    ]
    task = {"type": "worker", "index": int(env["SLURM_PROCID"])}
    return json.dumps({"cluster": {"worker": workers}, "task": task})
