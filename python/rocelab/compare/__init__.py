"""How schemes behave in five small networks: what a change of a law must not move unseen."""
