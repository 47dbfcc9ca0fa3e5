what_is_wrong = frozenset(letter for letter in "abd")
