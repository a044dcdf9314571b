"""What fills an element's box: one small file for each kind of content."""
