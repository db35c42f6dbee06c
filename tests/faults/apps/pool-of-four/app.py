"""Every order needs one of four connections to the database, for 30 ms."""

import asyncio
import os

import uvicorn
from fastapi import FastAPI

app = FastAPI()
pool = asyncio.Semaphore(4)
used = {"now": 0, "most": 0}


@app.get("/hello")
async def hello():
    return {"hello": "world"}


@app.get("/orders")
async def orders():
    async with pool:
        used["now"] += 1
        used["most"] = max(used.values())
        await asyncio.sleep(0.030)
        used["now"] -= 1
    return {"orders": ["tea", "more tea"]}


@app.get("/stats")
async def stats():
    return used


uvicorn.run(app, host=os.environ["HOST"], port=int(os.environ["PORT"]), log_level="warning")
