"""How much load a server can carry: `search` chooses levels, `run` measures them, `model` explains them."""
