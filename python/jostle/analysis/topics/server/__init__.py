"""What a server's system and runtime show of it: its accept queue, its threads, its garbage collection."""
