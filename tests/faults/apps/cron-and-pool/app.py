"""Orders need one of four connections, for 30 ms, and every 2 s a job blocks the event loop for 80 ms."""

import asyncio
import os
import time

import uvicorn
from fastapi import FastAPI

app = FastAPI()
pool = asyncio.Semaphore(4)
used = {"now": 0, "most": 0}
began = []


async def job():
    due = time.monotonic()
    while True:
        due += 2.0
        await asyncio.sleep(due - time.monotonic())
        began.append(time.time())
        end = time.monotonic() + 0.080
        while time.monotonic() < end:
            pass


@app.on_event("startup")
async def start():
    app.state.job = asyncio.create_task(job())


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
    return {**used, "began": began}


uvicorn.run(app, host=os.environ["HOST"], port=int(os.environ["PORT"]), log_level="warning")
