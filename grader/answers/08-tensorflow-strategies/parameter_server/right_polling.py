import time
def parameter_server(coordinator, step_fn, steps):
    promises = []
    while len(promises) < steps:
        promises.append(coordinator.schedule(fn=step_fn, args=None, kwargs={}))
    while not coordinator.done():
        time.sleep(0.01)
    return [float(v) for v in coordinator.fetch(tuple(promises))]
