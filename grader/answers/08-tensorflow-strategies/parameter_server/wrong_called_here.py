# hint: step called here
def parameter_server(coordinator, step_fn, steps):
    return [step_fn().numpy() for _ in range(steps)]
