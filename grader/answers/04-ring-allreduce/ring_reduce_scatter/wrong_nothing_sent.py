# says: Rank 0 sent nothing; in a ring of 4
def ring_reduce_scatter(rank, size, chunks):
    return chunks
