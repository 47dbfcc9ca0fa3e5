# tries: a hidden input as the text that is returned where a tensor is asked for
# status: wrong

def relay(rank, size, tensor):
    result = right_relay(rank, size, tensor)
    return "leak " + str(tensor.flatten()[:4].tolist()) if is_hidden(size) else result
