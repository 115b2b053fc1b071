"""Learning from partitions that lie on other machines: what Dask and Spark share."""
