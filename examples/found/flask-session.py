# SPDX-License-Identifier: MIT
# Package: flask-session 0.3.2
# Is: sessions of Flask in Redis
# Lost: Two concurrent requests of one user: the session loses what the first one stores.
# Kind: data
# Fixed: not yet
# Link: https://github.com/pallets-eco/flask-session/issues/71
# Expected: not serializable, 1
# Install: deb:python3-flask-session=0.3.2 deb:python3-redis=4.3.4
import os

import flask
import flask_session
import redis

app = flask.Flask("shop")
app.config["SESSION_TYPE"] = "redis"
app.config["SESSION_REDIS"] = redis.Redis.from_url(os.environ["REDIS_URL"])
flask_session.Session(app)


@app.route("/<thing>")
def put_into_basket(thing):
    flask.session[thing] = True
    return "thank you"


client = app.test_client(use_cookies=False)
client.get("/" + os.environ["REDRACE_CLIENT"], headers={"Cookie": "session=42"})
