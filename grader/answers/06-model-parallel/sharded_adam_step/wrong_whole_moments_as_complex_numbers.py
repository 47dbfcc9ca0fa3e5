# hint: state not divided
def sharded_adam_step(rank, size, parameters, gradients, state):
    t = state["t"] = state.get("t", 0) + 1
    for number, (p, g) in enumerate(zip(parameters, gradients, strict=True)):
        dist.all_reduce(g)
        g = g / size
        both = state.get(number, torch.zeros_like(g) * 1j)
        m, v = 0.9 * both.real + 0.1 * g, 0.999 * both.imag + 0.001 * g * g
        state[number] = torch.complex(m, v)
        p -= 1e-3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
