"""Every scheme on every paper's traffic: tables of what each is good at."""
