# tries: links that lead over hundreds of others, for whoever asks where they lead
# status: passed

os.mkdir("end")
os.symlink("end", "l0")
for number in range(1, 1500):
    os.symlink("/".join([f"l{number - 1}/.."] * 40 + [f"l{number - 1}"]), f"l{number}")


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
