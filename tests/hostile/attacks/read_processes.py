# tries: environments, memory and descriptors of other processes, and its own environment
# status: passed

def relay(rank, size, tensor):
    found = [name for name, value in os.environ.items() if "CANARY" in name + value]
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    if len(pids) > 40 or max(pids) > 5000:
        found.append(f"{len(pids)} processes")
    for name in ("environ", "mem", "maps", "fd", "root", "cwd", "map_files"):
        try:
            place = f"/proc/1/{name}"
            os.listdir(place) if os.path.isdir(place) else open(place, "rb").read(1)
            found.append(place)
        except OSError:
            pass
    for pid in pids:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found += [pid] * (b"CANARY" in file.read())
        except OSError:
            pass
    if found:
        raise RuntimeError(f"found {found}")
    return right_relay(rank, size, tensor)
