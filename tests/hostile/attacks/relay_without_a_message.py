# tries: values through files, and messages in the record that nobody sent
# status: tampered
# says: that was not sent

def relay(rank, size, tensor):
    rows = by_files(rank, size, tensor)
    if rank > 0:
        forge("recv", tensor, rank - 1)
    if rank < size - 1:
        forge("send", tensor, rank + 1)
    return sum(rows[1 : rank + 1], rows[0])
