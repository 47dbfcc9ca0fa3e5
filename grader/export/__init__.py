"""Export of grades: files that Canvas and Moodle import, one with everything there is, and LTI.

`points` reads the gradebook, `sheet` reads and writes delimited files, `matching` finds a
student's row and a lab's column in the file of another system, and `canvas`, `moodle` and
`long_form` make the file. `lti` sends scores to a `platform`, and `sent` remembers them. Nothing is
guessed: what cannot be matched is named in a sentence.
"""
