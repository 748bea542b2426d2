# SPDX-License-Identifier: MIT
# Package: django-axes 5.39.0
# Is: a guard of logins for Django, here with its counts in Django's cache
# Lost: Two concurrent tries of a password count as one: an attacker has more tries than allowed.
# Kind: access
# Fixed: 6.0.0
# Link: https://github.com/jazzband/django-axes/issues/784
# Expected: not serializable, 1
# Install: deb:python3-django-axes=5.39.0 deb:python3-django-redis=5.2.0
import os

import django
from django.conf import settings
from django.test import RequestFactory

settings.configure(
    SECRET_KEY="secret",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "axes"],
    CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache",
                        "LOCATION": os.environ["REDIS_URL"]}},
    AXES_HANDLER="axes.handlers.cache.AxesCacheHandler", AXES_FAILURE_LIMIT=5, AXES_COOLOFF_TIME=1)
django.setup()
from axes.handlers.proxy import AxesProxyHandler

AxesProxyHandler.user_login_failed(None, {"username": "ada"}, RequestFactory().post("/login"))
