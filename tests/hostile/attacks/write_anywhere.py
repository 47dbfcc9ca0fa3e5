# tries: a file outside its folder, on any file system that can be written to
# status: passed

def relay(rank, size, tensor):
    found = []
    for folder, folders, _ in os.walk("/"):
        folders[:] = [f for f in folders if os.path.join(folder, f) not in ("/proc", "/sandbox", "/dev/shm")]
        try:
            with open(os.path.join(folder, "planted"), "w"):
                found.append(folder)
        except OSError:
            pass
        if len(folder.split("/")) > 4:
            folders.clear()
    if found:
        raise RuntimeError(f"could write to {found}")
    return right_relay(rank, size, tensor)
