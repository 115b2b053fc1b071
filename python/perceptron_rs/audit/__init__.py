"""What a model keeps of its training, so that somebody else can repeat it.

`digests` says which bytes of the examples are digested, `record` what is kept of each call.
"""

__all__ = ["NOT_SAVED", "RECORD"]

#: The attribute of an estimator that holds the record.
RECORD = "_calls"
#: Parameters that belong to a process: no record and no file has them. A loaded estimator has their defaults.
NOT_SAVED = ("callback", "audit_key")
