"""Arrays, and the numbers in them: what users give, and what engines take and return."""
