# status: deadlock
# says: Threads of ranks 0 and 1 raised NameError: name 'tensr' is not defined at send:11
import threading


def exchange(rank, size, tensor):
    partner = rank ^ 1
    received = torch.empty_like(tensor)

    def send():
        dist.send(tensr, partner)

    sent = threading.Thread(target=send)
    sent.start()
    dist.recv(received, partner)
    sent.join()
    return received
