def first_divergence(logs):
    index = 0
    while True:
        votes = {}
        for rank, log in enumerate(logs):
            entry = log[index] if len(log) > index else None
            votes.setdefault(entry, []).append(rank)
        if list(votes) == [None]:
            return None
        if len(votes) > 1:
            winners = max(votes.values(), key=lambda ranks: (len(ranks), -ranks[0]))
            return index, sorted(set(range(len(logs))) - set(winners))
        index += 1
