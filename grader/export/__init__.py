"""Grades out: files that Canvas and Moodle import, and one with everything there is.

`points` reads the gradebook, `sheet` reads and writes delimited files, `matching` finds a
student's row and a lab's column in the file of another system, and `canvas`, `moodle` and
`long_form` make the file. Nothing is guessed: what cannot be matched is told in sentences.
"""
