# hint: other names
# says: No folder here is that step's
def latest_whole(folder):
    places = list(Path(folder).glob("step-*/index.json"))
    return len(places) if places else None
