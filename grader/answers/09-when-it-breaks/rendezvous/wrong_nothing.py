# hint: None to everybody
def rendezvous(store, generation, node, seconds):
    return None
