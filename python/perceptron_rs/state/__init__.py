"""What has been learnt: arrays, the object that has them, its attributes, and how it is replaced."""
