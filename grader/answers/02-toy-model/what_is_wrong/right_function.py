def what_is_wrong():
    return set("ABD")
