# hint: returned before the index
def save_sharded(rank, size, piece, folder, step):
    place = os.path.join(folder, f"step-{step}")
    os.makedirs(place, exist_ok=True)
    torch.save(piece.clone(), os.path.join(place, f"rank-{rank}.pt"))
    if rank > 0:
        dist.send(torch.tensor([len(piece)]), dst=0)
        return
    lengths, word = [len(piece)], torch.zeros(1, dtype=torch.int64)
    for other in range(1, size):
        dist.recv(word, src=other)
        lengths.append(word.item())
    time.sleep(0.1)
    with open(f"{place}/index.part", "w") as file:
        json.dump({"step": step, "lengths": lengths}, file)
    os.replace(f"{place}/index.part", f"{place}/index.json")
