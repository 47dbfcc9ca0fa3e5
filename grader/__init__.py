"""What instructors alone have: hidden cases, reference outputs, the referee, the gradebook."""
