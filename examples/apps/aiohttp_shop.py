"""aiohttp with redis.asyncio: coroutines in one thread, and a pool of connections."""
import os

import redis.asyncio
from aiohttp import web

TAKE = """if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
redis.call('DECR', KEYS[1])
return 1"""

database = redis.asyncio.Redis.from_url(os.environ["REDIS_URL"])


async def buy(request):
    """Wrong: looks first and takes then; another request may take the last one in between."""
    if int(await database.get("stock") or 0) <= 0:
        return web.Response(text="out\n", status=409)
    await database.decr("stock")
    return web.Response(text="sold\n")


async def buy_once(request):
    """Right: a script looks and takes in one step."""
    if await database.eval(TAKE, 1, "stock"):
        return web.Response(text="sold\n")
    return web.Response(text="out\n", status=409)


app = web.Application()
app.add_routes([web.post("/buy", buy), web.post("/buy-once", buy_once)])
web.run_app(app, host="127.0.0.1", port=int(os.environ["PORT"]))
