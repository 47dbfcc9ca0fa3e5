# hint: too many steps
def parameter_server(coordinator, step_fn, steps):
    promised = [coordinator.schedule(step_fn) for _ in range(2 * steps)]
    coordinator.join()
    return coordinator.fetch(promised[::2])
