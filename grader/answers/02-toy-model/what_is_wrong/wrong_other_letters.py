# hint: no set
# says: none of A to F
what_is_wrong = {"A", "B", "G"}
