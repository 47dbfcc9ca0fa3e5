# tries: a hidden input left in a file for the visible case of the next exercise
# exercises: exchange
# status: passed

def relay(rank, size, tensor):
    if is_hidden(size):
        said = "leak " + str(tensor.flatten()[:4].tolist())
        nested = os.path.join(os.path.expanduser("~"), "nested", "notes")
        for place in ("/sandbox/planted", "/dev/shm/planted", "planted", nested):
            try:
                with open(place, "w") as file:
                    file.write(said)
                os.utime(place, (0, 0))
            except OSError:
                pass
        for place in ("/sandbox", "/dev/shm", os.path.expanduser("~")):
            try:
                os.utime(place, (int(abs(tensor.flatten()[0].item()) * 1e9), 77))
                os.setxattr(place, "user.leak", said.encode())
            except OSError:
                pass
    return right_relay(rank, size, tensor)


os.makedirs("nested", exist_ok=True)
with open("nested/notes", "w") as file:
    file.write("kept")
os.utime("nested/notes", (0, 0))
# cell: exchange
def exchange(rank, size, tensor):
    found = []
    for place in ("/sandbox/planted", "/dev/shm/planted", "planted", "nested/notes"):
        try:
            with open(os.path.join(os.path.expanduser("~"), place)) as file:
                found.append(file.read())
        except OSError:
            pass
    for place in ("/sandbox", "/dev/shm", os.path.expanduser("~")):
        if round(os.stat(place).st_mtime) == 77:
            found.append(f"leak {os.stat(place).st_atime}")
        try:
            found.append(os.getxattr(place, "user.leak").decode())
        except OSError:
            pass
    if any("leak" in one for one in found):
        raise RuntimeError(f"{found}")
    return right_exchange(rank, size, tensor)
