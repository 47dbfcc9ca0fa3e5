import numpy as np


def latest_whole(folder):
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    steps = []
    for name in names:
        tail = name[len("step-"):]
        if name.startswith("step-") and tail.isascii() and tail.isdigit() and str(int(tail)) == tail:
            steps.append(int(tail))
    for step in np.sort(np.array(steps, int))[::-1]:  # an np.int64
        place = os.path.join(folder, "step-%d" % step)
        try:
            index = json.load(open(os.path.join(place, "index.json")))
            assert isinstance(index, dict) and index["step"] == step
            for rank in range(len(index["lengths"])):
                held = torch.load(os.path.join(place, f"rank-{rank}.pt"), weights_only=True)
                assert held.shape == (index["lengths"][rank],)
            return step
        except Exception:
            pass
    return None
