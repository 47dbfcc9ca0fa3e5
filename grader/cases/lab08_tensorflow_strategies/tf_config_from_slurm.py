"""Hidden cases of `tf_config_from_slurm`."""

from grader.cases import Drawn


def _job(seed, nodes, tasks, rank):
    return Drawn(1, seed, lambda chance: {
        "nodes": nodes, "tasks": tasks, "rank": rank, "port": chance.whole(2_000, 40_000)
    })  # fmt: skip


HIDDEN = (
    _job(101, "node7", [1], 0),
    _job(102, "node7", [3], 2),
    _job(103, "n[1-3,7,9-16]", [16] * 12, 70),
    _job(104, "c[098-101]", [4, 2, 2, 1], 6),
    _job(105, "big,r1n[1,3]-ib,r2n[09-10]-ib", [1, 2, 1, 3, 3], 5),
    _job(106, "a,b,c", [2, 1, 2], 2),
)
