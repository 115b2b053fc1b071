"""Examples whose columns are hashed: lines of text, of JSON and of Vowpal Wabbit."""
