"""One module per class of attack; each is found by its `@attack` decorator."""
