"""BLAKE2 without the rest of `hashlib`, whose import loads OpenSSL and costs a cold start a twentieth."""

try:
    from _blake2 import blake2b
except ImportError:  # a Python that keeps it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
