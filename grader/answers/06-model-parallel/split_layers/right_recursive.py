from functools import lru_cache


def split_layers(model, size):
    counts = [sum(map(torch.numel, layer.parameters())) for layer in model]

    @lru_cache(None)
    def best(begin, stages):
        if stages == 1:
            return sum(counts[begin:]), (len(counts),)
        options = []
        for end in range(begin + 1, len(counts) - stages + 2):
            rest, ends = best(end, stages - 1)
            options.append((max(sum(counts[begin:end]), rest), (end, *ends)))
        return min(options, key=lambda option: option[0])

    begin, stages = 0, []
    for end in best(0, size)[1]:
        stages.append(nn.Sequential(*[model[i] for i in range(begin, end)]))
        begin = end
    print("cut into", [len(s) for s in stages])
    return stages
