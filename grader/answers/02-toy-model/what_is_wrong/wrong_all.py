# hint: too many
what_is_wrong = set("ABCDEF")
