"""Tables: CSV, Parquet and Arrow, their columns, and which of them are labels and features."""
