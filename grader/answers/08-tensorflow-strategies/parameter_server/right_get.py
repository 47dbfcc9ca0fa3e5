def parameter_server(coordinator, step_fn, steps):
    remote = {i: coordinator.schedule(step_fn) for i in range(steps)}
    coordinator.join()
    return [remote[i].get().numpy() for i in range(steps)]
