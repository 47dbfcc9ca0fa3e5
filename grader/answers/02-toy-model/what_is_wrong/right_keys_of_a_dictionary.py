what_is_wrong = dict.fromkeys("ABD").keys()
