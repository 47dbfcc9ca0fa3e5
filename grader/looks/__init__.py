"""Second looks: what students ask for, what instructors answer, and what that does to points.

`inbox` takes requests in, as the account that hands them over; `diary` keeps all that was asked and
answered in one file to which is only added; `answering` enters answers into nbgrader's gradebook,
where points and comments given by hand are; `told` says to students and instructors what there is;
`replay` judges one exercise once more, to look at it. Points are nbgrader's `manual_score` and
nothing else: what is given in the formgrader and what is given here is the same thing.
"""
