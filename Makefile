# SPDX-License-Identifier: MIT
# `make help` lists what there is to make.

CC      ?= cc
CFLAGS  ?= -O2 -g
WERROR  ?=
PREFIX  ?= /usr/local
B       ?= build

VERSION := 0.1.0
WARN    := -Wall -Wextra -Wstrict-prototypes $(WERROR)
STD     := -std=c11 -D_GNU_SOURCE
DIRS    := -Ilib -Iscenarios -Iharness -I$(B)
ALL     := $(STD) $(WARN) $(CFLAGS) $(DIRS) -MMD -MP -pthread

LIB     := $(patsubst %.c,$(B)/%.o,$(wildcard lib/*.c))
SCEN    := $(patsubst %.c,$(B)/%.o,$(wildcard scenarios/*.c))
HARNESS := $(patsubst %.c,$(B)/%.o,$(filter-out harness/main.c,$(wildcard harness/*.c)))
TESTS   := $(patsubst %.c,$(B)/%.o,$(wildcard tests/*/*.c))
LIBS    := -lhiredis -ljansson -lm

.PHONY: help all deps deps-peers bench bench-scaling bench-floor bench-peers demo plots check asan tsan clean FORCE
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## */\1\t/p' Makefile | expand -t 16

all: $(B)/redrace ## the program, build/redrace

deps: ## install what is missing (Debian's packages)
	@sh .ci/deps

deps-peers: ## install the locks that bench-peers compares with (Debian, npm)
	@sh .ci/deps-peers

bench: $(B)/redrace ## 100,000 increments under every strategy, results and plots
	@$(B)/redrace bench $(ARGS); code=$$?; \
	  { [ $$code -eq 0 ] || [ $$code -eq 2 ]; } && sh plots/draw results/latest; exit $$code

bench-scaling: $(B)/redrace ## the same over 1, 2, 4, 8 and 16 threads
	@$(B)/redrace bench --threads 1,2,4,8,16 --increments 20000 $(ARGS); code=$$?; \
	  { [ $$code -eq 0 ] || [ $$code -eq 2 ]; } && sh plots/draw results/latest; exit $$code

bench-floor: $(B)/redrace ## how near the strategies come to what the machine allows
	@$(B)/redrace floor $(ARGS)

bench-peers: $(B)/redrace ## our locks beside redis-py, redis-semaphore and node-redlock
	@sh .ci/deps-peers || [ $$? -eq 77 ]
	@$(B)/redrace peers $(ARGS)

demo: $(B)/redrace ## one minute of lost updates, live
	@$(B)/redrace demo $(ARGS)

plots: ## draw the newest results again
	@sh plots/draw results/latest

check: $(B)/redrace $(B)/tests/run ## all tests
	@sh tests/check $(B)

asan: ## the program's own workloads under the address and undefined-behaviour sanitizers
	@sh tests/sanitize asan address,undefined

tsan: ## the same under the thread sanitizer
	@sh tests/sanitize tsan thread

clean: ## remove what was built
	rm -rf build

$(B)/redrace: $(B)/harness/main.o $(HARNESS) $(SCEN) $(LIB)
	@echo '  LD $@'
	@$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ $(LIBS)

$(B)/tests/run: $(TESTS) $(HARNESS) $(SCEN) $(LIB)
	@echo '  LD $@'
	@$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -lcriterion $(LIBS)

$(B)/%.o: %.c | $(B)/version.h
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(ALL) -c -o $@ $<

# Rewritten only when it changes, so that a commit does not rebuild everything.
$(B)/version.h: FORCE
	@mkdir -p $(B)
	@sh harness/version '$(VERSION)' '$(CFLAGS)' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(B)/harness/environment.o $(B)/harness/main.o: $(B)/version.h

-include $(shell find $(B) -name '*.d' 2>/dev/null)
