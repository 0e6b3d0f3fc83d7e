"""What product.md promises in numbers, measured: `python bench/hook.py`."""
