"""Records as pictures and traces. Never imports torch."""
