"""Connecting hosts: the entries in their settings, and removing them again."""
