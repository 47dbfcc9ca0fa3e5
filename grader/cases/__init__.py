"""Hidden cases, a module a lab: `HIDDEN` gives each exercise's cases beyond the visible ones."""
