# SPDX-License-Identifier: MIT
# What is measured, compared, and checked with examples.

.PHONY: bench exact bench-scaling bench-open bench-floor bench-explore bench-peers verdicts \
  verdicts-compare found-deps found apps-deps apps failover

# After a bench. Without pictures that is what is left to do, when gnuplot is there.
DRAW := sh plots/draw results/latest || echo 'pictures: make plots'

bench: $(B)/redrace ## 100,000 increments under every strategy, results and plots
	@$(B)/redrace bench $(ARGS); code=$$?; \
	  { [ $$code -eq 0 ] || [ $$code -eq 2 ]; } && { $(DRAW); }; exit $$code

exact: all ## for CI: do the eight strategies count as they promise, a dead holder and faults included? half a minute
	@REDRACE=$(B)/redrace examples/ci/exact $(ARGS)

bench-scaling: $(B)/redrace ## the same over 1, 2, 4, 8 and 16 threads, ten times each
	@$(B)/redrace bench --threads 1,2,4,8,16 --increments 20000 --repeats 10 $(ARGS); code=$$?; \
	  { [ $$code -eq 0 ] || [ $$code -eq 2 ]; } && { $(DRAW); }; exit $$code

bench-open: $(B)/redrace ## an open loop at 50, 80 and 95 % of the capacity of four strategies, or of ONLY="incr"
	@$(B)/redrace bench --rate 50%,80%,95% --threads 8 $(ARGS) \
	  $(or $(ONLY),incr set-nx-ex lua-delifequals fair-queue); code=$$?; \
	  { [ $$code -eq 0 ] || [ $$code -eq 2 ]; } && { $(DRAW); }; exit $$code

bench-floor: $(B)/redrace $(B)/trips ## how near the strategies come to the limits of the machine, and the price of safety
	@REDRACE=$(B)/redrace tests/bench/floor $(ARGS)
	@! command -v gnuplot >/dev/null || [ ! -f results/floor/price.csv ] || sh plots/price

$(B)/trips: tests/trips/trips.c
	@mkdir -p $(@D)
	$(CC) -O2 -o $@ $<

bench-explore: all ## how large the explorer's searches are, and how fast
	@REDRACE=$(B)/redrace tests/bench/explore $(ARGS)

bench-peers: $(B)/redrace ## our locks beside those of others: Python, Node.js, PHP (MORE=no: without PHP)
	@sh .ci/deps peers || [ $$? -eq 77 ]
	@[ '$(MORE)' = no ] || sh .ci/deps peers-php || [ $$? -eq 77 ]
	@REDRACE=$(B)/redrace tests/bench/peers $(ARGS)

verdicts: all $(B)/tests/run ## what each case comes to, as JSON Lines in OUT=FILE: all, or ONLY="check/* matrix/incr/*"
	@set -f; tests/verdicts/dump --redrace $(B)/redrace --tests $(B)/tests/run $(ARGS) $(OUT) $(ONLY)

verdicts-compare: all $(B)/tests/run ## does it come to the same as in BASE=FILE? a new dump, or NEW=FILE
	@new='$(NEW)'; [ -n "$$new" ] || { new=$(B)/verdicts; \
	  tests/verdicts/dump --redrace $(B)/redrace --tests $(B)/tests/run --like $(BASE) $(ARGS) $$new; } && \
	  tests/verdicts/compare $(BASE) $$new

found-deps: ## install the packages of examples/found (npm, Debian): all, or FOUND="NAME ..."
	@examples/found/deps $(FOUND)

found: all ## check them, and compute docs/found.md: all, or FOUND="NAME ..."
	@REDRACE=$(B)/redrace examples/found/run $(FOUND)

apps-deps: ## install what the apps of examples/apps use (npm, Debian; APPS=few-apps: those of tests)
	@code=0; sh .ci/deps $(or $(APPS),apps) || code=$$?; \
	  $(MAKE) -s $(B)/apps/hiredis_shop || code=77; \
	  [ '$(APPS)' = few-apps ] || ! command -v go >/dev/null || \
	    $(MAKE) -s $(B)/apps/redigo_shop || code=77; exit $$code

$(B)/apps/hiredis_shop: examples/apps/hiredis_shop.c
	@mkdir -p $(@D)
	$(CC) -O2 -o $@ $< -lmicrohttpd -lhiredis

$(B)/apps/redigo_shop: examples/apps/redigo_shop.go
	@mkdir -p $(@D)
	GOPATH=/usr/share/gocode GO111MODULE=off GOCACHE=$(abspath $(B))/apps/go go build -o $@ $<

apps: all $(B)/tests/run ## check them all: both handlers of each kind of app
	@RR_APPS=all $(B)/tests/run --filter 'app_kinds/*' -j1

failover: $(B)/redrace ## what fail-overs lose, with WAIT and without: docs/failover.md
	@REDRACE=$(B)/redrace sh plots/failover $(ARGS)
