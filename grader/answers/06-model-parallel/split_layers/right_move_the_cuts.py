def split_layers(model, size):
    """Candidates for the largest stage are the sums of runs of layers: the smallest that works."""
    layers = list(model)
    count = [sum(p.numel() for p in m.parameters()) for m in layers]
    n = len(layers)
    for limit in sorted({sum(count[a:b]) for a in range(n) for b in range(a + 1, n + 1)}):
        if max(count) > limit:
            continue
        cuts, begin = [], 0
        while begin < n:
            end = begin + 1
            while end < n and sum(count[begin : end + 1]) <= limit:
                end += 1
            cuts.append((begin, end))
            begin = end
        if len(cuts) > size:
            continue
        while len(cuts) < size:  # cut long stages further: that makes none larger
            where = next(i for i, (a, b) in enumerate(cuts) if b - a > 1)
            a, b = cuts[where]
            cuts[where : where + 1] = [(a, a + 1), (a + 1, b)]
        return tuple(nn.Sequential(*layers[a:b]) for a, b in cuts) and [
            nn.Sequential(*layers[a:b]) for a, b in cuts
        ]
