# status: error
def ring_all_gather(rank, size, chunks):
    other = 1 - rank
    request = dist.isend(chunks[other], other)
    dist.recv(chunks[rank], other)
    request.wait()
