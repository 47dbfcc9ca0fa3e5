# tries: GeneratorExit, which is no Exception
# status: error

def relay(rank, size, tensor):
    raise GeneratorExit
