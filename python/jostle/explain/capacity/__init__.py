"""What a server carries: `search` says which levels come next, `run` measures them, `model` explains them."""
