# status: error
# says: The step's folder may be there
def save_sharded(rank, size, piece, folder, step):
    p = Path(folder, f"step-{step}")
    if rank == 0:
        p.mkdir()
    dist.barrier()
    torch.save(piece.clone(), p / f"rank-{rank}.pt")
    lengths = [None]*size
    dist.all_gather_object(lengths, len(piece))
    if rank == 0:
        (p /"index.tmp").write_text(json.dumps({"step": step, "lengths": lengths}))
        os.replace(p /"index.tmp", p /"index.json")
    dist.barrier()
