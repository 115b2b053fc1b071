"""What to type where DATA cannot be read: one line, which then works."""
