# SPDX-License-Identifier: MIT
# What is installed for redrace, and the packages and images of it.

.PHONY: deps deps-check deps-peers deb deb-test image image-test deps-browser servers

deps: ## install what is missing (Debian's packages)
	@sh .ci/deps

deps-check: ## install what it takes to build redrace and run `redrace check`, and no more (CI)
	@sh .ci/deps check

deps-peers: ## install the locks that bench-peers compares with (Debian, npm)
	@sh .ci/deps peers

deb: ## Debian packages of program and library, in build/deb
	@sh .ci/deb $(ARGS)

deb-test: ## installs them in a bare Debian, as root, and looks that all works there
	@sh tests/packages --chroot

image: ## a container image, redrace:latest, from build/deb (ARGS=--bare: without a registry)
	@sh .ci/image $(ARGS)

image-test: ## runs the program in it
	@sh tests/image

deps-browser: ## install the browser that tests of pages use (Debian, npm)
	@sh .ci/deps browser

servers: ## other versions of Redis and Valkey, into build/servers (Debian; needs no root)
	@sh .ci/deps-servers $(SERVERS)
