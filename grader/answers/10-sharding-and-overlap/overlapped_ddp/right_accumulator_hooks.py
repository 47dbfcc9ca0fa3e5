def overlapped_ddp(model, bucket_bytes):
    trained = [p for p in model.parameters() if p.requires_grad][::-1]
    ends, held = [], 0
    for i, p in enumerate(trained):
        held += p.numel() * p.element_size()
        if held >= bucket_bytes or i == len(trained) - 1:
            ends.append(i + 1)
            held = 0
    begins = [0, *ends[:-1]]
    state = {"there": set(), "works": []}
    accumulators = [p.expand_as(p).grad_fn.next_functions[0][0] for p in trained]

    def make(i):
        def hook(*_):
            state["there"].add(i)
            works = state["works"]
            while len(works) < len(ends) and state["there"] >= set(
                range(begins[len(works)], ends[len(works)])
            ):
                b = len(works)
                flat = torch.cat([p.grad.view(-1) for p in trained[begins[b] : ends[b]]])
                works.append((flat, dist.all_reduce(flat, async_op=True)))

        return hook

    for i, accumulator in enumerate(accumulators):
        accumulator.register_hook(make(i))

    def finish():
        assert accumulators  # their hooks live as long as they do
        for b, (flat, work) in enumerate(state["works"]):
            work.wait()
            flat /= dist.get_world_size()
            for p in trained[begins[b] : ends[b]]:
                p.grad.copy_(flat[: p.numel()].view_as(p))
                flat = flat[p.numel() :]
        state["there"], state["works"] = set(), []

    return finish
