import time


def parameter_server(coordinator, step_fn, steps):
    promised = [coordinator.schedule(step_fn, args=(), kwargs={}) for _ in range(steps)]
    while not coordinator.done():
        time.sleep(0.01)
    coordinator.join()
    return coordinator.fetch(tuple(promised))
