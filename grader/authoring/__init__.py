"""For authors: begin an exercise or a lab, and be told what is missing."""
