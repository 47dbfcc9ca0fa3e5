"""distlab: a lab course on distributed deep learning that checks itself."""
