# hint: no set
what_is_wrong = {"A": True, "B": True, "D": True}
