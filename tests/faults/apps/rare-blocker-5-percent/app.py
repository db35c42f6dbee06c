"""A report takes 6 ms, but one in twenty computes for 80 ms on the event loop, and all others wait."""

import asyncio
import os
import random
import time

import uvicorn
from fastapi import FastAPI

app = FastAPI()
drawn = random.Random(5)
count = {"reports": 0, "large": 0}


@app.get("/hello")
async def hello():
    return {"hello": "world"}


@app.get("/report")
async def report():
    count["reports"] += 1
    if drawn.random() < 0.05:
        count["large"] += 1
        end = time.monotonic() + 0.080
        while time.monotonic() < end:
            pass
    else:
        await asyncio.sleep(0.006)
    return {"report": "all is well"}


@app.get("/stats")
async def stats():
    return count


uvicorn.run(app, host=os.environ["HOST"], port=int(os.environ["PORT"]), log_level="warning")
