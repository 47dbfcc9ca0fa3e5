"""For authors: begin an exercise or a lab, and find out what is still missing."""
