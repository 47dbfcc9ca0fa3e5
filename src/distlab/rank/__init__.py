"""What runs inside a rank. torch lives here."""
