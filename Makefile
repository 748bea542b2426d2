# SPDX-License-Identifier: MIT
# `make help` lists what there is to make.

CC      ?= cc
CFLAGS  ?= -O2 -g
WERROR  ?=
B       ?= build

PREFIX       ?= /usr/local
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
MANDIR       ?= $(PREFIX)/share/man
BASHDIR      ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR       ?= $(PREFIX)/share/zsh/site-functions
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
# The program looks for these from its own directory: BINDIR is PREFIX/bin.
LIBEXECDIR := $(PREFIX)/libexec/redrace
RACEDIR    := $(PREFIX)/share/redrace/races
DOCDIR     := $(PREFIX)/share/redrace/docs
DOCUMENTS  := $(wildcard docs/*.md docs/*.svg docs/*.png)
LDCONFIG     ?= ldconfig

VERSION := 0.2.0
# Its first number rises when a program would have to be compiled again.
SONAME  := libredislock.so.2
SHARED  := libredislock.so.$(VERSION)
WARN    := -Wall -Wextra -Wstrict-prototypes $(WERROR)
STD     := -std=c11 -D_GNU_SOURCE
DIRS    := -Ilib -Iscenarios -Iharness -I$(B)
# What a fault costs is less then: bounds of what the C library writes to, which takes
# optimisation; the stack; addresses of functions. Sanitizers look at more themselves, and
# whoever has flags of their own for it, as Debian has, keeps them.
CHECKED := $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),$(if $(findstring _FORTIFY_SOURCE,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
HARDEN  := $(if $(findstring -fsanitize,$(CFLAGS)),,-fstack-protector-strong $(CHECKED))
LINK    := $(CC) $(HARDEN) $(CFLAGS) -Wl,-z,relro,-z,now $(LDFLAGS) -pthread
ALL     := $(STD) $(WARN) $(HARDEN) $(CFLAGS) $(DIRS) -MMD -MP -pthread

LIB     := $(patsubst %.c,$(B)/%.o,$(wildcard lib/*.c))
SCEN    := $(patsubst %.c,$(B)/%.o,$(wildcard scenarios/*.c))
# Shims are libraries of their own, loaded into servers and programs.
SHIMS   := $(B)/redrace-clock.so $(B)/redrace-program.so
# What stands for an app and its requests: a program of its own, without a sanitizer as well.
DRIVER  := $(B)/redrace-app
HARNESS := $(patsubst %.c,$(B)/%.o,$(filter-out harness/main.c,$(wildcard harness/*.c harness/*/*.c))) $(B)/assets.o
TESTS   := $(patsubst %.c,$(B)/%.o,$(filter-out tests/fuzz/% tests/soak/% tests/torture/%,$(wildcard tests/*/*.c)))
SOAK    := $(patsubst %.c,$(B)/%.o,$(wildcard tests/soak/*.c))
ASSETS  := $(wildcard harness/report/*.css harness/report/*.js harness/report/*.html harness/report/*.levels harness/report/*.graph harness/*/*.findings) examples/check/shop.py
PIC     := $(patsubst $(B)/%,$(B)/pic/%,$(LIB))
# A manual page for the program, and one for each subcommand.
PAGES   := docs/redrace.1 $(patsubst harness/cmd_%.c,$(B)/man/redrace-%.1,$(wildcard harness/cmd_*.c))
LIBS    := -lhiredis -ljansson -lutf8proc -lyaml -lmd4c-html -lmd4c -lm

# What `make install` puts where, and `make uninstall` takes away.
INSTALLED := $(BINDIR)/redrace $(addprefix $(MANDIR)/man1/,$(notdir $(PAGES))) \
  $(MANDIR)/man3/redislock.3 $(MANDIR)/man5/redrace-race.5 \
  $(PKGCONFIGDIR)/redislock.pc $(BASHDIR)/redrace $(ZSHDIR)/_redrace \
  $(INCLUDEDIR)/redislock.h $(INCLUDEDIR)/redislock/driver.h \
  $(addprefix $(LIBDIR)/,libredislock.a $(SHARED) $(SONAME) libredislock.so) \
  $(LIBEXECDIR)/redrace-clock.so $(LIBEXECDIR)/redrace-program.so $(LIBEXECDIR)/redrace-app \
  $(addprefix $(RACEDIR)/,$(notdir $(wildcard scenarios/races/*.race))) \
  $(addprefix $(DOCDIR)/,$(notdir $(DOCUMENTS)))

.PHONY: accept format format-check help all deps deps-peers deps-browser servers bench bench-scaling bench-floor bench-peers claims claims-doc versions versions-doc matrix matrix-replay demo plots check oracle schema asan fuzz soak torture tsan clean FORCE bench-explore failover
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## */\1\t/p' Makefile | expand -t 16

all: $(B)/redrace $(SHIMS) $(DRIVER) ## the program, build/redrace

deps: ## install what is missing (Debian's packages)
	@sh .ci/deps

deps-peers: ## install the locks that bench-peers compares with (Debian, npm)
	@sh .ci/deps-peers

.PHONY: deb deb-test image image-test

deb: ## Debian packages of program and library, in build/deb
	@sh .ci/deb $(ARGS)

deb-test: ## installs them in a bare Debian, as root, and looks that all works there
	@sh tests/packages --chroot

image: ## a container image, redrace:latest, from build/deb (ARGS=--bare: without a registry)
	@sh .ci/image $(ARGS)

image-test: ## runs the program in it
	@sh tests/image

deps-browser: ## install the browser that tests of pages use (Debian, npm)
	@sh .ci/deps-browser

servers: ## other versions of Redis and Valkey, into build/servers (Debian; needs no root)
	@sh .ci/deps-servers $(SERVERS)

bench: $(B)/redrace ## 100,000 increments under every strategy, results and plots
	@$(B)/redrace bench $(ARGS); code=$$?; \
	  { [ $$code -eq 0 ] || [ $$code -eq 2 ]; } && sh plots/draw results/latest; exit $$code

.PHONY: exact

exact: all ## for CI: do the eight strategies count as they promise, a dead holder and faults included? half a minute
	@REDRACE=$(B)/redrace examples/ci/exact $(ARGS)

bench-scaling: $(B)/redrace ## the same over 1, 2, 4, 8 and 16 threads, five times each
	@$(B)/redrace bench --threads 1,2,4,8,16 --increments 20000 --repeats 5 $(ARGS); code=$$?; \
	  { [ $$code -eq 0 ] || [ $$code -eq 2 ]; } && sh plots/draw results/latest; exit $$code

bench-floor: $(B)/redrace ## how near the strategies come to what the machine allows
	@REDRACE=$(B)/redrace tests/bench/floor $(ARGS)

bench-explore: all ## how large the explorer's searches are, and how fast
	@REDRACE=$(B)/redrace tests/bench/explore $(ARGS)

bench-peers: $(B)/redrace ## our locks beside those of others: Python, Node.js, PHP (MORE=no: without PHP)
	@sh .ci/deps-peers || [ $$? -eq 77 ]
	@[ '$(MORE)' = no ] || sh .ci/deps-peers-more || [ $$? -eq 77 ]
	@REDRACE=$(B)/redrace tests/bench/peers $(ARGS)

.PHONY: found found-deps

found-deps: ## install the packages of examples/found (npm, Debian): all, or FOUND="NAME ..."
	@examples/found/deps $(FOUND)

found: all ## check them, and compute docs/found.md: all, or FOUND="NAME ..."
	@REDRACE=$(B)/redrace examples/found/run $(FOUND)

.PHONY: apps apps-deps

apps-deps: ## install what the apps of examples/apps use (npm, Debian)
	@sh .ci/deps-peers-apps

apps: all $(B)/tests/run ## check them all: both handlers of each kind of app
	@RR_APPS=all $(B)/tests/run --filter 'app_kinds/*' -j1

failover: $(B)/redrace ## what fail-overs lose, with WAIT and without: docs/failover.md
	@REDRACE=$(B)/redrace sh plots/failover $(ARGS)

claims: all ## every claim of the documents, by playing its races
	@$(B)/redrace claims $(ARGS)

claims-doc: all ## the same as docs/claims.md
	@$(B)/redrace claims --docs docs $(ARGS)

game-graphs: all ## harness/report/*.graph, of the checks that levels of the game are made of (redis-py)
	@sed -n "s/^checked //p; s/^command redrace check //p" harness/report/game.levels | while read -r name && read -r check; do \
	  eval "$(B)/redrace check --graph harness/report/$$name.json $$check" </dev/null >/dev/null; \
	  mv harness/report/$$name.json harness/report/$$name.graph; done

schema: all ## docs/redrace.schema.json, of the options of redrace check
	@$(B)/redrace help --schema > docs/redrace.schema.json

versions: all ## what differs among the servers of make servers
	@REDRACE=$(B)/redrace tests/bench/versions $(ARGS)

versions-doc: all ## the same as docs/versions.md
	@REDRACE=$(B)/redrace tests/bench/versions --all --docs docs $(ARGS)

matrix: all ## every strategy under every hazard: docs/matrix.md, its transcripts, the README
	@begun=$$(mktemp); \
	  $(B)/redrace matrix --docs docs -o results/matrix.html -o results/matrix.json $(ARGS); code=$$?; \
	  if [ docs/matrix.md -nt $$begun ]; then for file in README.md README.zh.md; do \
	    sh docs/excerpt $$file > $$file.new && mv $$file.new $$file; done; fi; \
	  rm -f $$begun; exit $$code

matrix-replay: all ## play the transcripts of docs/matrix: do they still show what they did?
	@$(B)/redrace matrix --replay docs/matrix $(ARGS)

demo: all ## a tour of ten minutes, with pauses (ARGS=--auto: without)
	@$(B)/redrace demo $(ARGS)

.PHONY: site

site: all ## everything as linked pages: results/site/index.html; some minutes (ARGS="results/latest")
	@$(B)/redrace site -o results/site $(ARGS)

plots: ## draw the newest results again
	@sh plots/draw results/latest

check: all $(B)/tests/run ## all tests
	@sh tests/run-all $(B)

format: ## lay out all C as .clang-format says
	@git ls-files '*.c' '*.h' | xargs clang-format -i

format-check: ## does it lie so?
	@git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror

accept: all $(B)/tests/run ## what has changed on purpose: tests/golden, docs/strategies.md, matrix; shows the difference
	@sh tests/accept $(B)

oracle: $(B)/tests/run ## PROGRAMS=20000 random ones, LITTLE=2000 of loops: do the tables leave out anything that matters?
	@RR_ORACLE=$(or $(PROGRAMS),20000) RR_LEARNING=$(or $(LITTLE),2000) \
	  $(B)/tests/run --timeout 3000 --filter '@(oracle|learning)/*'

.PHONY: brute

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

tsan: ## the same under the thread sanitizer
	@sh tests/sanitize tsan thread

.PHONY: lib man places install uninstall

lib: $(B)/libredislock.a $(B)/$(SHARED) ## libredislock, static and shared

man: $(PAGES) $(B)/man/redrace-race.5 ## the manual pages, build/man

$(B)/man/redrace-%.1: $(B)/redrace
	@mkdir -p $(@D)
	@$(B)/redrace help --man $* > $@

$(B)/man/redrace-race.5: docs/races.md docs/races.awk $(B)/version.h
	@mkdir -p $(@D)
	@awk -v date="$$(sed -n 's/^#define RR_DATE "\(.*\)"/\1/p' $(B)/version.h)" \
	  -f docs/races.awk docs/races.md > $@

# Where things go stands in shell commands, in lists of make and in sed's.
define PLACES
$(PREFIX)
$(BINDIR)
$(LIBDIR)
$(INCLUDEDIR)
$(MANDIR)
$(PKGCONFIGDIR)
$(BASHDIR)
$(ZSHDIR)
endef
places: export PLACES := $(PLACES)
places: export DESTDIR := $(DESTDIR)
places:
	@! printf '%s\n' "$$PLACES" | grep -qv '^/' || \
	  { echo 'PREFIX, LIBDIR and the like must be absolute paths' >&2; exit 1; }
	@[ -z "$$(printf '%s' "$$DESTDIR$$PLACES" | \
	  LC_ALL=C tr -d 'A-Za-z0-9/._+,:=@\200-\377\n-')" ] || \
	  { echo 'DESTDIR, PREFIX and the like must be without blanks, quotes and other characters of the shell' >&2; exit 1; }

# Each under DESTDIR.
placed = $(foreach place,$(1),'$(DESTDIR)$(place)')

install: places $(B)/redrace $(SHIMS) $(DRIVER) lib man ## the program, the library, manual pages, completion, under PREFIX
	install -d $(call placed,$(BINDIR) $(LIBDIR) $(PKGCONFIGDIR) \
	  $(INCLUDEDIR)/redislock $(MANDIR)/man1 $(MANDIR)/man3 \
	  $(MANDIR)/man5 $(BASHDIR) $(ZSHDIR) \
	  $(LIBEXECDIR) $(RACEDIR) $(DOCDIR))
	install -m 644 $(SHIMS) '$(DESTDIR)$(LIBEXECDIR)/'
	install -m 755 $(DRIVER) '$(DESTDIR)$(LIBEXECDIR)/'
	install -m 644 scenarios/races/*.race '$(DESTDIR)$(RACEDIR)/'
	install -m 644 $(DOCUMENTS) '$(DESTDIR)$(DOCDIR)/'
	install $(B)/redrace '$(DESTDIR)$(BINDIR)/'
	install -m 644 $(B)/libredislock.a '$(DESTDIR)$(LIBDIR)/'
	install $(B)/$(SHARED) '$(DESTDIR)$(LIBDIR)/'
	ln -sf $(SHARED) '$(DESTDIR)$(LIBDIR)/$(SONAME)'
	ln -sf $(SONAME) '$(DESTDIR)$(LIBDIR)/libredislock.so'
	install -m 644 lib/redislock.h '$(DESTDIR)$(INCLUDEDIR)/'
	install -m 644 lib/driver.h '$(DESTDIR)$(INCLUDEDIR)/redislock/'
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
	  -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
	  lib/redislock.pc.in > '$(DESTDIR)$(PKGCONFIGDIR)/redislock.pc'
	chmod 644 '$(DESTDIR)$(PKGCONFIGDIR)/redislock.pc'
	install -m 644 $(PAGES) '$(DESTDIR)$(MANDIR)/man1/'
	install -m 644 $(B)/man/redrace-race.5 '$(DESTDIR)$(MANDIR)/man5/'
	install -m 644 completion/redrace.bash '$(DESTDIR)$(BASHDIR)/redrace'
	install -m 644 completion/_redrace '$(DESTDIR)$(ZSHDIR)/'
	install -m 644 docs/redislock.3 '$(DESTDIR)$(MANDIR)/man3/'
	$(RELINK)

uninstall: places ## take away what install put under PREFIX
	rm -f $(call placed,$(INSTALLED))
	-rmdir $(call placed,$(INCLUDEDIR)/redislock $(LIBEXECDIR) $(RACEDIR) \
	  $(DOCDIR) $(PREFIX)/share/redrace)
	$(RELINK)

# The loader's cache knows nothing of a staged copy, and is root's to write.
RELINK = [ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || $(LDCONFIG)

clean: ## remove what was built
	rm -rf build

# It looks for the libraries of the clocks beside itself: whoever has it has them.
$(B)/redrace: $(B)/harness/main.o $(HARNESS) $(SCEN) $(LIB) | $(SHIMS) $(DRIVER)
	@echo '  LD $@'
	@$(LINK) -o $@ $^ $(LIBS)

# They run for moments, and are a quarter of what is compiled.
$(TESTS): private ALL := $(patsubst -O2,-O1,$(ALL))

$(B)/tests/run: $(TESTS) $(HARNESS) $(SCEN) $(LIB)
	@echo '  LD $@'
	@$(LINK) -o $@ $^ -lcriterion $(LIBS)

$(B)/soak: $(SOAK) $(HARNESS) $(SCEN) $(LIB)
	@echo '  LD $@'
	@$(LINK) -o $@ $^ $(LIBS)

$(B)/torture-library: $(B)/tests/torture/library.o $(LIB)
	@echo '  LD $@'
	@$(LINK) -o $@ $^ -lhiredis

# What tests/fuzz/run takes the parsers from.
$(B)/harness.a: $(HARNESS) $(SCEN) $(LIB)
	@echo '  AR $@'
	@rm -f $@
	@$(AR) rcs $@ $^

$(B)/libredislock.a: $(LIB)
	@echo '  AR $@'
	@rm -f $@
	@$(AR) rcs $@ $^

# Exports what the map lists; nothing may be left for the program to define.
$(B)/$(SHARED): $(PIC) lib/redislock.map
	@echo '  LD $@'
	@$(LINK) -shared -o $@ $(PIC) -Wl,-z,defs \
	  -Wl,-soname,$(SONAME),--version-script=lib/redislock.map -lhiredis

# Without a sanitizer: they are loaded into programs that have none.
$(B)/redrace-clock.so: harness/cluster/shim/clock.c harness/cluster/clock_page.h Makefile
$(B)/redrace-program.so: $(wildcard harness/check/shim/*.[ch]) harness/check/program_page.h Makefile
$(SHIMS):
	@mkdir -p $(@D)
	@echo '  LD $@'
	@$(CC) $(STD) $(WARN) $(HARDEN) $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS)) \
	  -Iharness -fPIC -shared -Wl,-z,relro,-z,now -o $@ $(filter %.c,$^) -pthread -ldl

$(DRIVER): $(wildcard harness/check/app/*.[ch]) $(wildcard harness/base/*.h) harness/check/sockets.h \
  harness/check/sockets.c harness/base/bytes.c harness/base/text.c harness/base/memory.c Makefile
	@mkdir -p $(@D)
	@echo '  LD $@'
	@$(CC) $(STD) $(WARN) $(HARDEN) $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS)) \
	  -Iharness -Wl,-z,relro,-z,now -o $@ $(filter %.c,$^) -pthread

define compile
@mkdir -p $(@D)
@echo '  CC $<'
@$(CC) $(ALL) $(1) -c -o $@ $<
endef

$(B)/%.o: %.c | $(B)/version.h $(B)/assets.h
	$(call compile)

# Position-independent, for the shared library.
$(B)/pic/%.o: %.c
	$(call compile,-fPIC)

# The styles and scripts of pages, and what is expected, as strings of the program.
$(B)/assets.h $(B)/assets.c: $(B)/assets.%: harness/report/embed $(ASSETS)
	@mkdir -p $(B)
	@sh harness/report/embed $* $(ASSETS) > $@

$(B)/assets.o: $(B)/assets.c
	$(call compile)

# Rewritten only when it changes, so that a commit does not rebuild everything.
$(B)/version.h: FORCE
	@mkdir -p $(B)
	@new=$@.$$$$; sh harness/version '$(VERSION)' '$(strip $(HARDEN) $(CFLAGS))' > $$new && \
	  { cmp -s $$new $@ && rm $$new || mv $$new $@; }

$(B)/harness/bench/environment.o $(B)/harness/main.o $(B)/harness/base/help.o \
  $(B)/harness/base/shard.o \
  $(B)/harness/doctor/doctor.o: $(B)/version.h

-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)
