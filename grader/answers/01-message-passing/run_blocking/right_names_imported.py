from torch.distributed import recv, send


def run_blocking(rank, size):
    def speak(tensor):
        tensor.add_(1)
        send(tensor, 1)

    def listen(tensor):
        recv(tensor, 0)

    tensor = torch.zeros(1)
    (speak, listen)[rank](tensor)
    return tensor
