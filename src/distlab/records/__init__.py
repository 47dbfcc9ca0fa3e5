"""What ranks did: read back, matched and proven. Never imports torch."""
