what_is_wrong = ["D", "B", "A"]
