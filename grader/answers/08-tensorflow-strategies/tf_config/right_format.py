def tf_config(workers, index):
    listed = ", ".join(f'"{worker}"' for worker in workers)
    return (
        '{"cluster": {"worker": [' + listed + ']}, '
        f'"task": {{"type": "worker", "index": {index}}}}}'
    )
