# hint: no set
what_is_wrong = {...}
