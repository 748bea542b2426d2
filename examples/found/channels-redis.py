# SPDX-License-Identifier: MIT
# Package: channels-redis 4.0.0
# Is: the channel layer of Django Channels
# Lost: A channel with room for one takes two messages that are sent at the same time: its
#   capacity does not protect the memory of the server.
# Kind: limit
# Fixed: not yet
# Link: https://github.com/django/channels_redis/issues/109
# Expected: not serializable, 1
# Install: deb:python3-channels-redis=4.0.0
import asyncio
import os

from channels.exceptions import ChannelFull
from channels_redis.core import RedisChannelLayer


async def main():
    layer = RedisChannelLayer([os.environ["REDIS_URL"]], capacity=1)
    try:
        await layer.send("room", {"type": "greeting"})
    except ChannelFull:
        print("full")


asyncio.run(main())
