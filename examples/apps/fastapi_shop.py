"""FastAPI and uvicorn with redis.asyncio: coroutines in one thread, and a pool of connections."""
import os

import redis.asyncio
import uvicorn
from fastapi import FastAPI, Response

app = FastAPI()
database = redis.asyncio.Redis.from_url(os.environ["REDIS_URL"])


@app.post("/buy")
async def buy():
    """Wrong: looks first and takes then; another request may take the last one in between."""
    if int(await database.get("stock") or 0) <= 0:
        return Response("out\n", 409)
    await database.decr("stock")
    return Response("sold\n")


@app.post("/buy-once")
async def buy_once():
    """Right: takes first and looks what was left, and gives back what was not there."""
    if await database.decr("stock") >= 0:
        return Response("sold\n")
    await database.incr("stock")
    return Response("out\n", 409)


if __name__ == "__main__":
    uvicorn.run(app, port=int(os.environ["PORT"]))
