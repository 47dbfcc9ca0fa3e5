import itertools
import re


def tf_config_from_slurm(env, port):
    def numbers(inside):
        for part in inside.split(","):
            ends = part.split("-")
            for number in range(int(ends[0]), int(ends[-1]) + 1):
                yield f"{number:0{len(ends[0])}d}"

    def names(text):
        for token in re.split(r",(?![^\[]*\])", text):
            match = re.search(r"\[(.+?)\]", token)
            if match is None:
                yield token
            else:
                for number in numbers(match[1]):
                    yield token[: match.start()] + number + token[match.end() :]

    counts = itertools.chain.from_iterable(
        [int(found[1])] * int(found[2] or 1)
        for found in re.finditer(r"(\d+)(?:\(x(\d+)\))?", env["SLURM_STEP_TASKS_PER_NODE"])
    )
    workers = [
        f"{name}:{port + local}"
        for name, count in zip(names(env["SLURM_STEP_NODELIST"]), counts)
        for local in range(count)
    ]
    return json.dumps(
        {"cluster": {"worker": workers}, "task": {"type": "worker", "index": int(env["SLURM_PROCID"])}}
    )
