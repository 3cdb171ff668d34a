"""The one road every call takes: validate, run, fit, deliver."""
