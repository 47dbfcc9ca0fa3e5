def one_f_one_b_step(rank, size, stage, batch, targets, microbatches):
    """By torch.func: a forward pass gives the function that goes back."""
    k, first, last = microbatches, rank == 0, rank == size - 1
    parameters = {name: p.detach() for name, p in stage.named_parameters()}
    gradients = {name: torch.zeros_like(p) for name, p in parameters.items()}
    parts, goals = batch.chunk(k) if first else None, targets.chunk(k) if last else None
    under_way, sends, total, m = collections.deque(), [], 0.0, 0
    ahead = min(size - 1 - rank, k)
    for turn in "F" * ahead + "FB" * (k - ahead) + "B" * ahead:
        if turn == "F":
            if first:
                x = parts[m]
            else:
                x = told_buffer(rank - 1, rank)
                dist.recv(x, rank - 1)

            def run(own, x, m=m):
                y = torch.func.functional_call(stage, own, (x,))
                return F.mse_loss(y, goals[m]) / k if last else y

            y, back = torch.func.vjp(run, parameters, x)
            if last:
                total += y.item()
            else:
                tell_shape(rank, rank + 1, y)
                sends.append(dist.isend(y, rank + 1))
            under_way.append((back, torch.ones_like(y)))
            m += 1
        else:
            back, gradient = under_way.popleft()
            if not last:
                dist.recv(gradient, rank + 1)
            of_own, of_x = back(gradient)
            for name in gradients:
                gradients[name] += of_own[name]
            if not first:
                sends.append(dist.isend(of_x, rank - 1))
            del back
    for send in sends:
        send.wait()
    for name, p in stage.named_parameters():
        p.grad = gradients[name]
    return total if last else None
