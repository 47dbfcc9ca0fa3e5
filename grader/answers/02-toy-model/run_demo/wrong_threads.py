# status: error
# hint: called here
# says: in the parent
import threading


def run_demo(demo_fn, world_size):
    failed = []

    def work(rank):
        try:
            demo_fn(rank, world_size)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(world_size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
