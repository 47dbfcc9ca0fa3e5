"""Mutants of the solutions that do what is asked all the same: what is changed, and why that is so.

By lab and exercise; with its line in the function where several mutants change theirs into the
same. `bench/mutants.py` counts them apart, and says so when one is a mutant no more.
"""

_EQUALLY_LONG = "zip gets lists that are equally long"
_UNREAD = "what it changes is never read"
_FASTER_OR_SLOWER = "throughput is shown, not graded"
_GET_WAITS = "store.get waits for the key as well"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "02-toy-model/world_from_env": {
        "raise ValueError(f'{names[1]} is set, but {name} is missing')":
            "it raises, and names the variable that is missing; which one is there nobody asks",
    },
    "03-cifar10-ddp/set_random_seeds": {
        "left out: torch.cuda.manual_seed_all(seed)": "torch.manual_seed seeds all devices",
    },
    "03-cifar10-ddp/train_epoch": {
        "total = torch.zeros(3, dtype=torch.float64, device=device)": _UNREAD,
    },
    "03-cifar10-ddp/save_checkpoint": {
        "left out: file.flush()": "closing the file flushes it",
        "left out: os.fsync(file.fileno())":
            "it shows only when the machine loses power, which no check can do",
        "left out: beside.unlink(missing_ok=True)":
            "a file is left beside the checkpoint; asked is that the older checkpoint stays whole",
    },
    "04-ring-allreduce/sync_parameter_server": {
        "for parameter, total in zip(parameters, sums, strict=False):": _EQUALLY_LONG,
    },
    "04-ring-allreduce/async_parameter_server": {
        "for parameter, gradient in zip(parameters, gradients, strict=False):": _EQUALLY_LONG,
    },
    "05-scaling-up/shard": {
        "generator = torch.Generator().manual_seed(seed - epoch)":
            "epoch and seed still give the order, and another one in each epoch",
    },
    "05-scaling-up/make_feeding_loader": {
        "return DataLoader(Shards(), batch_size, num_workers=2, prefetch_factor=4, "
        "persistent_workers=True)": _FASTER_OR_SLOWER,
        "return DataLoader(Shards(), batch_size, num_workers=1, prefetch_factor=5, "
        "persistent_workers=True)": _FASTER_OR_SLOWER,
        "return DataLoader(Shards(), batch_size, num_workers=1, prefetch_factor=4, "
        "persistent_workers=False)": _FASTER_OR_SLOWER,
    },
    "06-model-parallel/split_layers": {
        "best = [{0: (0, 1)}]": _UNREAD,
        "best = [{0: (1, 0)}]": "a largest stage of 0 counts as 1, as all cuts do then",
        "for k in range(1, size + 2):": _UNREAD,
        "for n in range(k, len(layers) + 2):": _UNREAD,
        "cuts = [c for c in range(k - 2, n) if c in best[k - 1]]":
            "no cut below k - 1 is in best[k - 1]",
    },
    "06-model-parallel/pipeline_step": {
        "losses = [F.mse_loss(o, t) / microbatches for o, t in zip(outputs, parts, strict=False)]":
            _EQUALLY_LONG,
    },
    "06-model-parallel/sharded_adam_step": {
        "for parameter, piece in zip(parameters, pieces, strict=False):": _EQUALLY_LONG,
        "return F.pad(line, (0, share * size + count))":
            "more zeros behind the line than needed, which no share reaches",
    },
    "06-model-parallel/memory_per_rank": {
        "return sum((parameters * b / n for b, n in zip(bytes_each, divided_by, strict=False)))":
            _EQUALLY_LONG,
    },
    "09-when-it-breaks/roll_call": {
        "if not absent or left < 0:": "no time is left to the nanosecond only by chance",
        "left out: time.sleep(min(0.02, left))": "it looks more often",
    },
    "09-when-it-breaks/rendezvous": {
        "closing = 1000001": "any number does that is larger than that of the workers",
        "if place >= closing:": "who comes first after the end gets closing + 2 at least",
        "left out: store.wait(names)": _GET_WAITS,
        "left out: store.wait([f'{key}/members'], timedelta(seconds=seconds + 60))": _GET_WAITS,
        "store.wait([f'{key}/members'], timedelta(seconds=seconds + 61))":
            "no worker dies, so that it never waits so long",
    },
    "09-when-it-breaks/first_divergence": {
        "for index in range(max(map(len, logs), default=1)):":
            "it differs for a job of no ranks, and there is none",
    },
    "09-when-it-breaks/latest_whole": {
        "line 24: return None": "what is_whole returns is only asked whether it is true",
    },
    "09-when-it-breaks/load_resharded": {
        "piece = torch.load(os.path.join(place, f'rank-{saver}.pt'), weights_only=False)":
            "the files hold a tensor alone, which loads either way; only latest_whole is asked to "
            "refuse others",
    },
}  # fmt: skip
