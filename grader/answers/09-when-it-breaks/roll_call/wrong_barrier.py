# status: error
def roll_call(store, name, rank, size, seconds):
    dist.monitored_barrier(timeout=timedelta(seconds=seconds), wait_all_ranks=True)
    return []
