"""What ranks send each other, measured on the network between them."""
