"""Orders, for 30 ms, and stock, for 45 ms, need one of the same five connections; prices need none."""

import asyncio
import os

import uvicorn
from fastapi import FastAPI

app = FastAPI()
pool = asyncio.Semaphore(5)
used = {"now": 0, "most": 0}


async def query(seconds: float):
    async with pool:
        used["now"] += 1
        used["most"] = max(used.values())
        await asyncio.sleep(seconds)
        used["now"] -= 1


@app.get("/hello")
async def hello():
    return {"hello": "world"}


@app.get("/prices")
async def prices():
    await asyncio.sleep(0.030)
    return {"tea": 12.5}


@app.get("/orders")
async def orders():
    await query(0.030)
    return {"orders": ["tea"]}


@app.get("/stock")
async def stock():
    await query(0.045)
    return {"tea": 4}


@app.get("/stats")
async def stats():
    return used


uvicorn.run(app, host=os.environ["HOST"], port=int(os.environ["PORT"]), log_level="warning")
