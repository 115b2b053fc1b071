"""What the commands that train share: the steps of a training, and what they say of data and model."""
