"""The first request for a product takes 60 ms, every later one for the same is answered from memory."""

import asyncio
import os

import uvicorn
from fastapi import FastAPI, Request

app = FastAPI()
cache = {}
count = {"misses": 0}


@app.get("/hello")
async def hello():
    return {"hello": "world"}


@app.get("/product")
async def product(request: Request):
    key = request.url.query
    if key not in cache:
        count["misses"] += 1
        await asyncio.sleep(0.060)
        cache[key] = {"product": key}
    return cache[key]


@app.get("/stats")
async def stats():
    return count


uvicorn.run(app, host=os.environ["HOST"], port=int(os.environ["PORT"]), log_level="warning")
