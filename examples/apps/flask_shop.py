"""Flask with redis-py: a thread for each request, and a pool of connections."""
import os

import redis
from flask import Flask

TAKE = """if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
redis.call('DECR', KEYS[1])
return 1"""

app = Flask(__name__)
database = redis.Redis.from_url(os.environ["REDIS_URL"])


@app.post("/buy")
def buy():
    """Wrong: looks first and takes then; another request may take the last one in between."""
    if int(database.get("stock") or 0) <= 0:
        return "out\n", 409
    database.decr("stock")
    return "sold\n"


@app.post("/buy-once")
def buy_once():
    """Right: a script looks and takes in one step."""
    if database.eval(TAKE, 1, "stock"):
        return "sold\n"
    return "out\n", 409


@app.post("/buy-watched")
def buy_watched():
    """Right: looks and takes in a transaction, which is tried again if the stock has changed."""
    def take(pipe):
        if int(pipe.get("stock") or 0) <= 0:
            return False
        pipe.multi()
        pipe.decr("stock")
        return True

    if database.transaction(take, "stock", value_from_callable=True):
        return "sold\n"
    return "out\n", 409


if __name__ == "__main__":
    app.run(port=int(os.environ["PORT"]))
