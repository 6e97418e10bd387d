"""Tables of text of the user, in blocks: lines, cells, and what is wrong in them."""
