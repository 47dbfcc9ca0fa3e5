"""Judge a class: submissions side by side, verdicts in a ledger."""
