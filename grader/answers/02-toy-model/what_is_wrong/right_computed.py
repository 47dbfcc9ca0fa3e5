what_is_wrong = {"A", "B", "C", "D", "E", "F"} - {"C", "E", "F"}
