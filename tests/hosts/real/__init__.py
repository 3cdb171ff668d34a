"""The real hosts, driven with a model that is a script on loopback; `make test-hosts` runs them."""
