"""What the families share: data, labels, parameters, storage, weights, progress, errors."""
