"""What instructors alone have: hidden cases, reference outputs, the referee, the gradebook."""

import sys

# jsonschema, which nbformat imports, would check that internationalised addresses are well formed,
# if it can: whatever it has to import for that takes 1.7 s, and no schema of notebooks has any
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # Python's way to hide it
