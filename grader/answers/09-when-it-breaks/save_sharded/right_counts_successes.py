def save_sharded(rank, size, piece, folder, step):
    place = Path(folder) / f"step-{step}"
    place.mkdir(parents=True, exist_ok=True)
    failure = None
    try:
        part = place / f".rank-{rank}.part"
        torch.save(piece.detach().clone(), part)
        part.rename(place / f"rank-{rank}.pt")
    except Exception as error:
        failure = error
    done = torch.zeros(size + 1, dtype=torch.int64)
    done[rank] = piece.numel()
    done[size] = failure is None
    dist.all_reduce(done)
    if failure is not None:
        raise failure
    if done[size] < size:
        raise RuntimeError("another rank could not save")
    if rank == 0:
        beside = place / ".index.json"
        beside.write_text(json.dumps({"step": step, "lengths": done[:size].tolist()}))
        beside.replace(place / "index.json")
    dist.barrier()
