"""What predicts: models without their training, hyperplanes, accuracies, and the shares of a vote."""
