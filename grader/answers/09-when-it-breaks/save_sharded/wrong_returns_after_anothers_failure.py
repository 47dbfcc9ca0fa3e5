# hint: returned after another's failure
# says: returned as if the step were saved


def save_sharded(rank, size, piece, folder, step):
    where = Path(folder) / f"step-{step}"
    where.mkdir(exist_ok=True)
    failure = None
    try:
        torch.save(piece.clone(), where / f"rank-{rank}.pt")
    except Exception as error:
        failure = error
    told = [None] * size
    dist.all_gather_object(told, (len(piece), failure is None))
    if failure:
        raise failure
    if not all(saved for _, saved in told):
        return
    if rank == 0:
        beside = where / "index.tmp"
        beside.write_text(json.dumps({"step": step, "lengths": [length for length, _ in told]}))
        os.replace(beside, where / "index.json")
    dist.barrier()
