# hint: others
what_is_wrong = {"A", "D", "F"}
