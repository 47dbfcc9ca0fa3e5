def exchange(rank, size, tensor):
    partner = rank + 1 if rank % 2 == 0 else rank - 1
    received = torch.zeros_like(tensor)
    there, back = dist.isend(tensor, partner), dist.irecv(received, partner)
    back.wait()
    there.wait()
    print("swapped with", partner)
    return received
