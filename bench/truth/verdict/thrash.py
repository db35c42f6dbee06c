"""A program that reads a file at random that does not fit into its memory: python thrash.py FILE"""

import mmap
import random
import sys
from pathlib import Path

SIZE, PAGE = 256 << 20, 4096

path = Path(sys.argv[1])
with path.open("wb") as written:
    for _ in range(SIZE >> 20):
        written.write(random.randbytes(1 << 20))
with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
    while True:
        pages[random.randrange(SIZE // PAGE) * PAGE]
