# tries: an answer that announces 2**60 bytes
# status: error
# says: OutputTooLarge

def relay(rank, size, tensor):
    os.write(judges_socket(), (1 << 60).to_bytes(8, "little") + b"more to come")
    time.sleep(10)
