# tries: GeneratorExit, which is no Exception
# status: crashed

def relay(rank, size, tensor):
    raise GeneratorExit
