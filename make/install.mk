# SPDX-License-Identifier: MIT
# The library, manual pages, and what goes where.

.PHONY: lib man places install uninstall clean

lib: $(B)/libredislock.a $(B)/$(SHARED) ## libredislock, static and shared

man: $(PAGES) $(B)/man/redrace-race.5 $(B)/man/man3/.made ## the manual pages, build/man

$(B)/man/redrace-%.1: $(B)/redrace
	@mkdir -p $(@D)
	@$(B)/redrace help --man $* > $@

$(B)/man/man3/.made: docs/header.awk lib/redislock.h $(B)/version.h
	@rm -rf $(@D)
	@mkdir -p $(@D)
	@awk -v dir=$(@D) -v date="$$(sed -n 's/^#define RR_DATE "\(.*\)"/\1/p' $(B)/version.h)" \
	  -f docs/header.awk lib/redislock.h
	@touch $@

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

install: places $(B)/redrace $(SHIMS) $(NODE) $(DRIVER) lib man ## the program, the library, manual pages, completion, under PREFIX
	install -d $(call placed,$(BINDIR) $(LIBDIR) $(PKGCONFIGDIR) \
	  $(INCLUDEDIR)/redislock $(MANDIR)/man1 $(MANDIR)/man3 \
	  $(MANDIR)/man5 $(BASHDIR) $(ZSHDIR) \
	  $(LIBEXECDIR) $(RACEDIR) $(DOCDIR))
	install -m 644 $(SHIMS) $(NODE) '$(DESTDIR)$(LIBEXECDIR)/'
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
	install -m 644 docs/redislock.3 $(B)/man/man3/*.3 '$(DESTDIR)$(MANDIR)/man3/'
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
