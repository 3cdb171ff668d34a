"""Connecting hosts: what is written into their settings, and taking it back."""
