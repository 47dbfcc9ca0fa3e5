# hint: too few
what_is_wrong = set()
