"""The course's policy: due dates, late penalties, points for cases, attempts, extensions, groups.

In force are `policy.yaml` (`policy`, `reading`) and what instructors have granted single students
(`roster`). Points follow from these, from the ledger and from the times of handing in, and from
nothing else, so they do not depend on the order in which any of it was changed.
"""
