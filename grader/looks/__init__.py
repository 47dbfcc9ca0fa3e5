"""Second looks: what students ask for, what instructors answer, and what that does to points.

`inbox` receives requests, each from the account that handed it over; `diary` keeps all that was
asked and answered in one append-only file; `answering` enters answers into nbgrader's gradebook,
as points and comments given by hand; `told` words all this for students and instructors; `replay`
judges one exercise once more, to be looked at. Points are nbgrader's `manual_score` and nothing
else, so it does not matter whether they are given in the formgrader or here.
"""
