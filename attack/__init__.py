"""Our own adversary: `make attack` tries to break the product and says what held."""
