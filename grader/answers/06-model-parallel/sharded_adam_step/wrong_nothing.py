# hint: nothing done
def sharded_adam_step(rank, size, parameters, gradients, state):
    return None
