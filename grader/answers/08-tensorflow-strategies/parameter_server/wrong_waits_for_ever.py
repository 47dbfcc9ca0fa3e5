# status: timeout
def parameter_server(coordinator, step_fn, steps):
    import threading
    
    finished = threading.Event()
    promised = [coordinator.schedule(step_fn) for _ in range(steps)]
    finished.wait()
    return coordinator.fetch(promised)
