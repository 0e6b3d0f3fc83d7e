"""The real agents against a scripted model on loopback: what `reflexctl doctor --deep` does."""
