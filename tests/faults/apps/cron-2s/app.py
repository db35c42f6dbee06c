"""Every 2.08 s a job on the event loop computes for 80 ms."""

import asyncio
import os
import time

import uvicorn
from fastapi import FastAPI

app = FastAPI()
began = []


async def job():
    due = time.monotonic()
    while True:
        due += 2.08
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


@app.get("/stats")
async def stats():
    return {"began": began}


uvicorn.run(app, host=os.environ["HOST"], port=int(os.environ["PORT"]), log_level="warning")
