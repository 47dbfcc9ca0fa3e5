# hint: state not divided
def sharded_adam_step(rank, size, parameters, gradients, state):
    state["t"] = state.get("t", 0) + 1
    state.setdefault("kept", Kept()).step(parameters, gradients, state["t"])


class Kept:
    def step(self, parameters, gradients, t):
        if t == 1:
            self.kept = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
        for p, g, (m, v) in zip(parameters, gradients, self.kept):
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            p -= 1e-3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
