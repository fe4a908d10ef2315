"""Files: writing whole ones, and saving and opening results."""
