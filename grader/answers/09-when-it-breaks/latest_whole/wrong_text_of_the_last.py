# hint: no int
def latest_whole(folder):
    if not os.path.isdir(folder):
        return None
    numbers = [name[5:] for name in os.listdir(folder) if name.startswith("step-")]
    found = [n for n in numbers if os.path.exists(f"{folder}/step-{n}/index.json")]
    return max(found, default=None)
