"""What has been learnt: one object, the attributes that show it, and how it is replaced."""
