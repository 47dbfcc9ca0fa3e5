# hint: chunks in other places
def ring_all_gather(rank, size, chunks):
    sending = chunks[(rank + 1) % size]
    for step in range(size - 1):
        place = chunks[(rank + 2 + step) % size]
        request = dist.isend(sending, (rank + 1) % size)
        dist.recv(place, (rank - 1) % size)
        request.wait()
        sending = place
