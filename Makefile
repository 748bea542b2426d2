# SPDX-License-Identifier: MIT
# `make help` lists what there is to make. Here are the variables, the help and the program; the
# other targets are in make/:
#   packages.mk  what is installed for redrace, Debian packages, images
#   measure.mk   bench and the like, verdicts, examples
#   docs.mk      claims, matrix, site, plots
#   tests.mk     check, format, sanitizers, fuzzing
#   install.mk   library, manual pages, install, uninstall
#   build.mk     how files are compiled and linked

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

VERSION := 0.3.0
# Its first number rises when a program would have to be compiled again.
SONAME  := libredislock.so.3
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
# What Node programs require.
NODE    := $(B)/redrace-node.cjs
# What stands for an app and its requests: a program of its own, without a sanitizer as well.
DRIVER  := $(B)/redrace-app
HARNESS := $(patsubst %.c,$(B)/%.o,$(filter-out harness/main.c,$(wildcard harness/*.c harness/*/*.c))) $(B)/assets.o
# Folders of tests/ with programs of their own, which the runner of tests is not linked of.
ALONE   := fuzz soak stress torture trips
TESTS   := $(patsubst %.c,$(B)/%.o,$(filter-out $(ALONE:%=tests/%/%),$(wildcard tests/*/*.c)))
SOAK    := $(patsubst %.c,$(B)/%.o,$(wildcard tests/soak/*.c))
ASSETS  := $(wildcard harness/report/*.css harness/report/*.js harness/report/*.html harness/report/*.levels harness/report/*.graph harness/*/*.findings) examples/check/shop.py
PIC     := $(patsubst $(B)/%,$(B)/pic/%,$(LIB))
# A manual page for the program, and one for each subcommand.
PAGES   := docs/redrace.1 $(patsubst harness/cmd_%.c,$(B)/man/redrace-%.1,$(wildcard harness/cmd_*.c))
# What redislock.h declares: a manual page for each section of it, found by each of its names.
NAMES   := $(addsuffix .3,$(shell awk -f docs/header.awk lib/redislock.h))
LIBS    := -lhiredis -ljansson -lutf8proc -lyaml -lmd4c-html -lmd4c -lm

# What `make install` puts where, and `make uninstall` takes away.
INSTALLED := $(BINDIR)/redrace $(addprefix $(MANDIR)/man1/,$(notdir $(PAGES))) \
  $(addprefix $(MANDIR)/man3/,redislock.3 $(NAMES)) $(MANDIR)/man5/redrace-race.5 \
  $(PKGCONFIGDIR)/redislock.pc $(BASHDIR)/redrace $(ZSHDIR)/_redrace \
  $(INCLUDEDIR)/redislock.h $(INCLUDEDIR)/redislock/driver.h \
  $(addprefix $(LIBDIR)/,libredislock.a $(SHARED) $(SONAME) libredislock.so) \
  $(LIBEXECDIR)/redrace-clock.so $(LIBEXECDIR)/redrace-program.so $(LIBEXECDIR)/redrace-node.cjs $(LIBEXECDIR)/redrace-app \
  $(addprefix $(RACEDIR)/,$(notdir $(wildcard scenarios/races/*.race))) \
  $(addprefix $(DOCDIR)/,$(notdir $(DOCUMENTS)))

# The parts lie beside this file, wherever make was started, in the order of the help.
ROOT  := $(dir $(lastword $(MAKEFILE_LIST)))
PARTS := make/packages.mk make/measure.mk make/docs.mk make/tests.mk make/install.mk

.PHONY: help all
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## */\1\t/p' $(addprefix $(ROOT),Makefile $(PARTS)) | expand -t 16

all: $(B)/redrace $(SHIMS) $(NODE) $(DRIVER) ## the program, build/redrace

include $(addprefix $(ROOT),$(PARTS) make/build.mk)
