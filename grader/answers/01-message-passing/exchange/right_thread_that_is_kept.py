import time
from concurrent.futures import ThreadPoolExecutor

pool = None


def exchange(rank, size, tensor):
    global pool
    if pool is None:
        pool = ThreadPoolExecutor(1)
    received = torch.empty_like(tensor)

    def send():
        time.sleep(0.2)  # the partner waits meanwhile, and nothing of its own seems to go on
        dist.send(tensor, dst=rank ^ 1)

    sent = pool.submit(send)
    dist.recv(received, src=rank ^ 1)
    sent.result()
    return received
