# SPDX-License-Identifier: MIT
# Tests, and what looks at all of the code.

.PHONY: check test format format-check accept oracle randomness brute asan fuzz torture soak lib-stress tsan

check: all $(B)/tests/run ## all tests
	@sh tests/run-all $(B)

# A sample of each part, in a minute and a half on two cores.
QUICK := @(cases|files|formats|markdown|option|plain|text|terms|times|words|blocking|findings|match|observer|parse|write|draw|scheduled|live|beliefs|names|lane|resp|endings|varying|check_data|outputs|explore|free_replay|matrix|output|schedules|help|options|judge|histogram|locks|fenced|link|uses|guardian|cluster_life)/*
test: all $(B)/tests/run ## a sample of the tests of each part, in 90 s on two cores
	@sh tests/run-all $(B) '$(QUICK)'

format: ## lay out all C as .clang-format says
	@git ls-files '*.c' '*.h' | xargs clang-format -i

format-check: ## does it lie so?
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror

accept: all $(B)/tests/run ## what has changed on purpose: tests/golden, docs/strategies.md, matrix; shows the difference
	@sh tests/accept $(B)

oracle: $(B)/tests/run ## PROGRAMS=20000 random ones, LITTLE=2000 of loops: do the tables leave out anything that matters?
	@RR_ORACLE=$(or $(PROGRAMS),20000) RR_LEARNING=$(or $(LITTLE),2000) \
	  $(B)/tests/run --timeout 3000 --filter '@(oracle/@(tables|nobody|faults)|learning/random)_*'

randomness: all ## what programs draw at random with two seeds, by language (ARGS="Go Node")
	@REDRACE=$(B)/redrace tests/randomness $(ARGS)

brute: all ## redrace check beside an independent judge on random programs (ARGS="--seeds 1-300 --jobs 2")
	@tests/brute/selftest
	@tests/brute/beside $(B)/redrace $(ARGS)
	@tests/brute/timed --c $(B)/redrace $(ARGS)

asan: ## the program's own workloads under the address and undefined-behaviour sanitizers
	@sh tests/sanitize asan address,undefined $(ASAN)

fuzz: ## all parsers, and what schedules do, for SECONDS=700 together; ONLY="race reply" (clang's libFuzzer)
	@sh tests/fuzz/run $(B) $(or $(SECONDS),700) $(ONLY)

torture: all $(B)/torture-library ## kill, starve and mislead the program, for SECONDS=300 or ROUNDS= (SEED=, ONLY=)
	@tests/torture/torture $(B) \
	  $(if $(ROUNDS),--rounds $(ROUNDS),--seconds $(or $(SECONDS),300)) $(if $(SEED),--seed $(SEED)) \
	  $(if $(ONLY),--part $(ONLY)) $(ARGS)

soak: $(B)/soak ## all locks of the library, clients killed at random, for SECONDS=1800: every effect once?
	@$(B)/soak $(or $(SECONDS),1800) $(SEED)

# In a build of its own, whatever the others were compiled with.
SANITIZER ?= address
STRESS    := $(B)/stress-$(SANITIZER)
lib-stress: ## the library's threads while servers die, for SECONDS=60, under SANITIZER=address or thread
	@$(MAKE) -s $(STRESS)/stress B=$(STRESS) LDFLAGS='-fsanitize=$(SANITIZER:address=address,undefined)' \
	  CFLAGS='-O1 -g1 -fno-omit-frame-pointer -fsanitize=$(SANITIZER:address=address,undefined) -fno-sanitize-recover=all'
	@$(STRESS)/stress $(or $(SECONDS),60) $(SEED)

tsan: ## the same under the thread sanitizer
	@sh tests/sanitize tsan thread
