"""The course's policy: due dates, late penalties, points for cases, attempts, extensions, groups.

What is in force is `policy.yaml` (`policy`, `reading`) and what instructors granted single students
(`roster`). Points follow from these, from the ledger and from when something was handed in, and
from nothing else: so they are the same in whichever order any of it was changed.
"""
