# hint: no list
def split_layers(model, size):
    stages = [model[i : i + 1] for i in range(size)]
    stages[-1].extend(model[size:])
