# SPDX-License-Identifier: MIT
# How files are compiled and linked.

.PHONY: FORCE

# It looks for the libraries of the clocks beside itself: whoever has it has them.
$(B)/redrace: $(B)/harness/main.o $(HARNESS) $(SCEN) $(LIB) | $(SHIMS) $(NODE) $(DRIVER)
	@echo '  LD $@'
	@$(LINK) -o $@ $^ $(LIBS)

# They run for moments, and are a quarter of what is compiled. Bounds are checked with optimisation only.
$(TESTS): private ALL := $(patsubst -O2,-O0,$(filter-out -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=%,$(ALL)))

# Modules that checked programs import, and what they are compiled to.
$(B)/tests/python/.made: $(wildcard tests/check/programs/*.py)
	@mkdir -p $(@D)
	@cp -p $^ $(@D)
	@! [ -x /usr/bin/python3 ] || /usr/bin/python3 -m compileall -q $(@D)
	@touch $@

# What programs of tests in shell talk to Redis with.
$(B)/tests/talk: tests/check/programs/talk.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(STD) $(WARN) -O1 -o $@ $<

# Apps that many tests check, and what makes their requests.
MADE := $(addprefix $(B)/tests/,shop ask lock_app)
$(MADE): $(B)/tests/%: tests/check/programs/%.c
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(CC) $(STD) $(WARN) -O1 -o $@ $< -lhiredis -pthread

$(B)/tests/run: $(TESTS) $(HARNESS) $(SCEN) $(LIB) | $(B)/tests/python/.made $(B)/tests/talk $(MADE)
	@echo '  LD $@'
	@$(LINK) -o $@ $^ -lcriterion $(LIBS)

$(B)/soak: $(SOAK) $(HARNESS) $(SCEN) $(LIB)
	@echo '  LD $@'
	@$(LINK) -o $@ $^ $(LIBS)

$(B)/stress: $(B)/tests/stress/stress.o $(LIB)
	@echo '  LD $@'
	@$(LINK) -o $@ $^ -lhiredis

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
$(B)/redrace-clock.so: harness/cluster/shim/clock.c harness/cluster/clock_page.h harness/base/random.h Makefile make/build.mk
$(B)/redrace-program.so: $(wildcard harness/party/shim/*.[ch]) harness/party/program_page.h harness/party/redis_at.h Makefile make/build.mk
$(SHIMS):
	@mkdir -p $(@D)
	@echo '  LD $@'
	@$(CC) $(STD) $(WARN) $(HARDEN) $(filter-out -fsanitize% -fno-sanitize%,$(CFLAGS)) \
	  -Iharness -fPIC -shared -Wl,-z,relro,-z,now -o $@ $(filter %.c,$^) -pthread -ldl

$(NODE): harness/party/shim/node.cjs
	@mkdir -p $(@D)
	@cp $< $@

$(DRIVER): $(wildcard harness/party/app/*.[ch]) $(wildcard harness/base/*.h) harness/party/sockets.h \
  harness/party/sockets.c harness/base/bytes.c harness/base/text.c harness/base/memory.c Makefile make/build.mk
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

# Tests wait for programs: to optimise them takes longer than they run.
$(B)/tests/%.o: tests/%.c | $(B)/version.h $(B)/assets.h
	$(call compile,-O0 -U_FORTIFY_SOURCE)

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
