"""From names of files to whole lines of text: patterns and folders, compression, encodings."""
