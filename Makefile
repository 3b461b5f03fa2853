# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The Rollcall developers
#
# One Makefile, no configure step. `make help` lists the targets.
#
#   CC=clang  SAN=address,undefined  SAN=thread  O=builddir  V=1  WERROR=1

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
SAN ?=
V ?= 0
WERROR ?= 0
PREFIX ?= /usr/local
DESTDIR ?=

ifneq ($(filter-out 0 1,$(V)),)
$(error V must be 0 or 1, not '$(V)')
endif
ifneq ($(filter-out 0 1,$(WERROR)),)
$(error WERROR must be 0 or 1, not '$(WERROR)')
endif
comma := ,
ifneq ($(filter-out address undefined thread,$(subst $(comma), ,$(SAN))),)
$(error SAN takes address, undefined and thread, separated by commas, not '$(SAN)')
endif

O ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wvla -Wcast-qual -Wundef
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif
OPT := -O2 -g
CFLAGS_ALL := -std=c11 -D_GNU_SOURCE $(OPT) -fPIC -fvisibility=hidden \
	-ffunction-sections -fdata-sections -fno-omit-frame-pointer \
	$(WARNINGS) -I. -MMD -MP $(CFLAGS)
LDFLAGS_ALL := -Wl,--gc-sections -Wl,-z,defs,-z,relro,-z,now $(LDFLAGS)
ifneq ($(SAN),)
CFLAGS_ALL += -fsanitize=$(SAN) -fno-sanitize-recover=all
# A sanitizer's runtime comes with the executable, so shared objects may lack it.
LDFLAGS_ALL := -fsanitize=$(SAN) -Wl,--gc-sections $(LDFLAGS)
endif
# The two preload libraries live in other people's processes.
PRELOAD_CFLAGS := -DROLLCALL_BUILDING -ftls-model=initial-exec

NCURSES_LIBS := -lncursesw -ltinfo
LZ4_STATIC := -l:liblz4.a

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

TELE_SRC := $(wildcard libtelemetry/*.c)
PUBLISH_SRC := $(wildcard libtelemetry/publish/*.c)
CENSUS_SRC := $(wildcard census/*.c)
ALLOC_SRC := $(wildcard alloc/*.c)
CUDA_SRC := $(wildcard census/cuda/*.c)
ANALYSIS_SRC := $(wildcard analysis/*.c)
MONITOR_SRC := $(wildcard monitor/*.c)
RECORDER_SRC := $(wildcard recorder/*.c)
CLI_SRC := $(wildcard cli/*.c)

obj = $(patsubst %.c,$(O)/%.o,$(1))
LIB_OBJ := $(call obj,$(TELE_SRC) $(PUBLISH_SRC) $(CENSUS_SRC))
ALLOC_OBJ := $(call obj,$(ALLOC_SRC))
CUDA_OBJ := $(call obj,$(CUDA_SRC))
TOOL_OBJ := $(call obj,$(ANALYSIS_SRC) $(MONITOR_SRC) $(RECORDER_SRC))
CLI_OBJ := $(call obj,$(CLI_SRC))

SO := $(O)/librollcall.so.0
ALLOC_SO := $(if $(ALLOC_SRC),$(O)/librollcall-alloc.so)
TILESEARCH := $(O)/tilesearch
CUDASEARCH := $(O)/cudasearch
CUDA_SO := $(O)/librollcall-cuda.so
PROGRAMS := $(SO) $(O)/librollcall.a $(ALLOC_SO) $(CUDA_SO) $(if $(CLI_SRC),$(O)/rollcall) \
	$(if $(wildcard examples/tilesearch/*.c),$(TILESEARCH)) $(CUDASEARCH)

TESTS := $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/test_*.c))
TEST_SUPPORT := $(call obj,$(wildcard tests/support/*.c))
TEST_PROGS := $(patsubst tests/prog/%.c,$(O)/tests/prog/%,$(wildcard tests/prog/*.c)) \
	$(patsubst tests/prog/%.c,$(O)/tests/prog/%.so,$(wildcard tests/prog/shims/*.c))
BENCHES := $(patsubst bench/%.c,$(O)/bench/%,$(wildcard bench/*.c)) $(O)/bench/alloc/workloads
REPLAYS := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

.PHONY: all demo check test gpu sanitize lint cross cross-objects bench soak fuzz install uninstall deps docs clean help tests-built
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAMS)

help:
	@sed -n 's/^##//p' $(MAKEFILE_LIST)

## make            builds everything into build/
## make demo       sets itself up, runs a leaking search and watches it
## make check      unit tests and lint, under a minute: for every commit
## make test       sets itself up and runs all tests
## make sanitize   the unit tests under ASan and UBSan, and under TSan
## make lint       layers, includes, symbols, stale documents
## make cross      everything compiles for arm64, where Debian's compiler is there
## make bench      speeds and sizes, beside their goals
## make soak       the long tests
## make gpu        what tests/gpu/run needs, for a machine with a GPU
## make fuzz       the fuzzers, for FUZZ_SECONDS each (60)
## make install    PREFIX=/usr/local DESTDIR=
## make deps       installs the Debian packages this needs, or says how
## make docs       makes docs/fields.md and the man page anew
## make clean      removes build/

$(call obj,$(TELE_SRC) $(PUBLISH_SRC) $(CENSUS_SRC) $(ALLOC_SRC) $(CUDA_SRC)): CFLAGS_ALL += $(PRELOAD_CFLAGS)

$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -c $< -o $@

$(SO): $(LIB_OBJ) libtelemetry/rollcall.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,librollcall.so.0 -Wl,-z,nodelete -Wl,--version-script,libtelemetry/rollcall.map \
		$(LDFLAGS_ALL) $(LIB_OBJ) $(LZ4_STATIC) -Wl,--exclude-libs,ALL -o $@
	$(Q)ln -sf librollcall.so.0 $(O)/librollcall.so

$(O)/librollcall.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/libtools.a: $(TOOL_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# error.o for the assertion; the shared librollcall keeps its own to itself.
ALLOC_LINKED := $(ALLOC_OBJ) $(call obj,libtelemetry/error.c)
$(ALLOC_OBJ): CFLAGS_ALL += -fomit-frame-pointer
$(O)/librollcall-alloc.so: $(ALLOC_LINKED) $(SO) alloc/alloc.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,librollcall-alloc.so -Wl,--version-script,alloc/alloc.map \
		$(LDFLAGS_ALL) -Wl,-rpath,'$$ORIGIN' $(ALLOC_LINKED) $(SO) -o $@

CUDA_LINKED := $(CUDA_OBJ) $(call obj,libtelemetry/error.c)
$(CUDA_SO): $(CUDA_LINKED) $(SO) census/cuda.map
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,librollcall-cuda.so -Wl,-z,nodelete -Wl,-Bsymbolic \
		-Wl,--version-script,census/cuda.map $(LDFLAGS_ALL) -Wl,-rpath,'$$ORIGIN' $(CUDA_LINKED) $(SO) -o $@

# The command never publishes: it takes libtelemetry without its publisher.
$(O)/rollcall: $(CLI_OBJ) $(TOOL_OBJ) $(call obj,$(TELE_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $(NCURSES_LIBS) $(LZ4_STATIC) -lm -o $@

$(TILESEARCH): $(call obj,$(wildcard examples/common/*.c examples/tilesearch/*.c))
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -rdynamic $^ -lm -ldl -lpthread -o $@

$(O)/tests/test_%: $(O)/tests/test_%.o $(TEST_SUPPORT) $(O)/libtools.a $(O)/librollcall.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $< $(TEST_SUPPORT) $(O)/libtools.a $(O)/librollcall.a \
		-lcmocka $(NCURSES_LIBS) $(LZ4_STATIC) -lm -o $@

# The census against a publisher of the test's own: support/fake_publisher.h.
$(O)/tests/test_census_%: $(O)/tests/test_census_%.o $(call obj,$(TELE_SRC) $(CENSUS_SRC))
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -lcmocka $(LZ4_STATIC) -o $@

$(CUDASEARCH): $(call obj,$(wildcard examples/common/*.c examples/cudasearch/*.c))
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ -lm -ldl -o $@

# The fake CUDA driver, the same as earlier drivers (fewer names), and as NVML.
# -Bsymbolic: it must not call itself by way of a preload.
FAKE_OBJ := $(call obj,$(filter-out tests/fake/nvml.c,$(wildcard tests/fake/*.c)))
FAKE_OLD := $(patsubst %,$(O)/fake/%/libcuda.so.1,11020 11080 12040 12080)
FAKES := $(O)/fake/libcuda.so.1 $(FAKE_OLD) $(O)/fake/second/libcuda.so.1 $(O)/fake/libnvidia-ml.so.1
CLIENTS := $(addprefix $(O)/fake/,client client-linked client-now libplugin.so libstub.so libstub-hidden.so \
	libvictim.so libhook.so)
FAKE_LINK = $(CC) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic $(LDFLAGS_ALL)
$(O)/fake/libcuda.so.1 $(O)/fake/second/libcuda.so.1: $(FAKE_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(FAKE_LINK) $(FAKE_OBJ) -o $@

$(FAKE_OLD): $(O)/fake/%/libcuda.so.1: $(FAKE_OBJ) tests/fake/exports.def
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)awk -F'[(), ]+' -v up_to=$* 'BEGIN { print "{ global: fake_*;" } \
		/^FAKE_EXPORT/ && $$3 <= up_to { print $$4 ";" } END { print "local: *; };" }' \
		tests/fake/exports.def > $(@D)/map
	$(Q)$(FAKE_LINK) -Wl,--version-script,$(@D)/map $(FAKE_OBJ) -o $@

$(O)/fake/libnvidia-ml.so.1: $(O)/tests/fake/nvml.o
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(FAKE_LINK) $< -o $@

# Clients that reach the driver in every way there is (tests/blackbox/test_cuda.py).
CLIENT_CC = $(CC) -std=c11 -D_GNU_SOURCE -O1 -g -fPIC $(WARNINGS) $(CFLAGS)
CLIENT_LIB = $(CLIENT_CC) -shared -Wl,-soname,$(@F)
$(CLIENTS): $(wildcard tests/fake/clients/*) | $(O)/fake/libcuda.so.1
$(O)/fake/client:
	$(Q)$(CLIENT_CC) tests/fake/clients/client.c -o $@ -ldl -lpthread
$(O)/fake/client-linked:
	$(Q)$(CLIENT_CC) -DLINKED tests/fake/clients/client.c -Wl,-z,lazy -o $@ $(O)/fake/libcuda.so.1 -ldl -lpthread
$(O)/fake/client-now:
	$(Q)$(CLIENT_CC) -DLINKED tests/fake/clients/client.c -Wl,-z,now -o $@ $(O)/fake/libcuda.so.1 -ldl -lpthread
$(O)/fake/libplugin.so:
	$(Q)$(CLIENT_LIB) tests/fake/clients/plugin.c -o $@ $(O)/fake/libcuda.so.1
$(O)/fake/libstub.so:
	$(Q)$(CLIENT_LIB) tests/fake/clients/stub.c -o $@ -ldl
$(O)/fake/libstub-hidden.so:
	$(Q)$(CLIENT_LIB) -DSTUB_HIDDEN tests/fake/clients/stub.c -o $@ -ldl
$(O)/fake/libvictim.so:
	$(Q)$(CLIENT_LIB) tests/fake/clients/victim.c -o $@ -ldl
$(O)/fake/libhook.so:
	$(Q)$(CLIENT_LIB) tests/fake/clients/hook.c -o $@ -ldl

$(O)/tests/test_nvml: | $(O)/fake/libnvidia-ml.so.1

# The CUDA census in one program with a publisher of the test's own; it loads
# the fake driver. -rdynamic: its wrappers stand in front of the driver's names.
CUDA_TESTED := $(CUDA_OBJ) $(call obj,$(TELE_SRC) $(CENSUS_SRC))
$(O)/tests/test_cuda_%: $(O)/tests/test_cuda_%.o $(CUDA_TESTED) | $(FAKES)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -rdynamic $< $(CUDA_TESTED) -lcmocka $(LZ4_STATIC) -ldl -lpthread -o $@
CUDA_INCLUDE ?= $(wildcard /usr/local/cuda/include)
$(O)/tests/test_cuda_abi.o: CFLAGS_ALL += $(addprefix -isystem ,$(CUDA_INCLUDE))
$(O)/tests/test_cuda_abi: $(O)/tests/test_cuda_abi.o
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $< -lcmocka -o $@

# Tests of the malloc keep their own, link ours by its inner names, count its
# mappings and stand in for the publisher (tests/alloc_shim.h).
ALLOC_TESTED := $(filter-out $(O)/alloc/entry.o,$(ALLOC_OBJ)) $(call obj,$(TELE_SRC))
ALLOC_WRAPS := -Wl,--wrap=alloc_sys_map,--wrap=alloc_sys_unmap,--wrap=alloc_sys_remap,--wrap=alloc_sys_discard,--wrap=alloc_sys_discard_many
$(O)/tests/test_alloc_%: $(O)/tests/test_alloc_%.o $(ALLOC_TESTED)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $(ALLOC_WRAPS) $^ -lcmocka $(LZ4_STATIC) -o $@

# The fuzz targets without a fuzzer: their corpora, and changes of those.
$(O)/tests/fuzz/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(O)/tests/fuzz/replay.o $(TEST_SUPPORT) $(O)/libtools.a $(O)/librollcall.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $(filter %.o,$^) $(O)/libtools.a $(O)/librollcall.a \
		-lcmocka $(NCURSES_LIBS) $(LZ4_STATIC) -lm -o $@

# The proof: tests/proof stands in for the publisher's thread, the rest of the
# writer and the reader are the real ones; but for the mutants', where stores of
# the writer go through tests/proof/mutant_store.h.
PROOF_OBJ := $(call obj,$(wildcard tests/proof/*.c) $(addprefix tests/support/,folder.c ring_fixture.c) $(TELE_SRC) \
	$(addprefix libtelemetry/publish/,segment_create.c settings.c slots.c))
RING_OBJ := $(call obj,libtelemetry/publish/ring.c libtelemetry/publish/ring_commit.c)
MUTANT_OBJ := $(patsubst $(O)/%,$(O)/mutants/%,$(RING_OBJ))
$(O)/tests/test_proof_steps: $(RING_OBJ)
$(O)/tests/test_proof_mutants: $(MUTANT_OBJ)
$(filter $(O)/tests/test_proof_%,$(TESTS)): $(O)/tests/test_proof_%: $(O)/tests/test_proof_%.o $(PROOF_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -Wl,--wrap=tele_block_encode,--wrap=tele_codec_encode $^ -lcmocka $(LZ4_STATIC) -o $@

$(MUTANT_OBJ): $(O)/mutants/%.o: %.c
	$(call say,CC,$< with mutants)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -include tests/proof/mutant_store.h -c $< -o $@

# Programs for the black-box tests: they know the public header only.
$(O)/tests/prog/%: tests/prog/%.c libtelemetry/rollcall.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g $(WARNINGS) $(CFLAGS) -Ilibtelemetry $< -o $@ -ldl -lpthread

# Preloads under which the world is worse than it is here.
$(O)/tests/prog/shims/%.so: tests/prog/shims/%.c
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g -shared -fPIC $(filter-out -Wmissing-prototypes,$(WARNINGS)) $(CFLAGS) $< -o $@ -ldl

$(O)/bench/%: $(O)/bench/%.o $(O)/libtools.a $(O)/librollcall.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $(filter %.o,$^) $(O)/libtools.a $(O)/librollcall.a $(NCURSES_LIBS) $(LZ4_STATIC) -lm -o $@

$(O)/tests/prog/traces: tests/support/traces.c tests/support/traces.h

# The simulation makes its series with the code the tests use.
$(O)/bench/verdict: $(O)/tests/support/noise.o

# The workloads of bench/alloc run under any malloc and see ours by its books.
$(O)/bench/alloc/workloads: $(wildcard bench/alloc/*.[ch]) $(SO)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARNINGS) $(CFLAGS) $(filter %.c,$^) -o $@ -Wl,--as-needed -L$(O) -lrollcall -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..'

tests-built: $(PROGRAMS) $(FAKES) $(CLIENTS) $(O)/gpu/checks $(TESTS) $(TEST_PROGS) $(REPLAYS) $(BENCHES)

deps:
	$(Q)tools/deps

demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tools/demo $(O)

check: tests-built
	$(Q)tests/run --quick $(O)
	$(Q)$(MAKE) --no-print-directory lint

test: deps
	$(Q)$(MAKE) --no-print-directory tests-built
	$(Q)tests/run $(O)

# The unit tests again, each instrumented build in a folder of its own; under
# the thread sanitizer those that have threads.
sanitize: deps
	$(Q)$(MAKE) --no-print-directory SAN=address,undefined O=build-address-undefined tests-built
	$(Q)tests/run --quick build-address-undefined
	$(Q)$(MAKE) --no-print-directory SAN=thread O=build-thread tests-built
	$(Q)tests/run --quick --match 'alloc|census|cuda|publisher|ring' build-thread

lint: $(PROGRAMS)
	$(Q)tools/lint $(O)

# Objects only: libraries of arm64 are not needed for them. /usr/include comes
# last, for headers that are the same on all machines.
CROSS_CC := aarch64-linux-gnu-gcc
cross:
	$(Q)if command -v $(CROSS_CC) >/dev/null; then \
		$(MAKE) --no-print-directory O=build-cross CC=$(CROSS_CC) OPT=-O1 \
			CFLAGS='$(CFLAGS) -idirafter /usr/include' cross-objects; \
	else \
		echo "make cross: SKIPPED: no $(CROSS_CC); Debian has it as gcc-aarch64-linux-gnu with libc6-dev-arm64-cross" >&2; \
	fi

cross-objects: $(LIB_OBJ) $(ALLOC_OBJ) $(TOOL_OBJ) $(CLI_OBJ)

bench: $(PROGRAMS) $(BENCHES)
	$(Q)bench/run $(O)

# Check programs for a machine with a GPU; those of the runtime where nvcc is.
NVCC ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
GPU_RUNTIME := $(if $(NVCC),$(addprefix $(O)/gpu/runtime-,shared static per-thread))
$(O)/gpu/checks: tests/gpu/checks.c census/cuda_calls.def census/cuda/abi.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O1 -g $(WARNINGS) $(CFLAGS) $< -o $@ -ldl -lpthread
NVCC_FLAGS_shared := --cudart shared -Xlinker -rpath,/usr/local/cuda/lib64
NVCC_FLAGS_static := --cudart static
NVCC_FLAGS_per-thread := --cudart static --default-stream per-thread
$(GPU_RUNTIME): $(O)/gpu/runtime-%: tests/gpu/runtime.cu
	$(call say,NVCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(NVCC) $(NVCC_FLAGS_$*) $< -o $@ 2>/dev/null || echo "NOT BUILT: $@ ($(NVCC) failed)"
gpu: $(PROGRAMS) $(O)/gpu/checks $(GPU_RUNTIME)

soak: tests-built
	$(Q)tests/run --soak $(O)

FUZZ_SECONDS ?= 60
fuzz:
	$(Q)tests/fuzz/run $(FUZZ_SECONDS)

docs: $(O)/rollcall
	$(Q)$(O)/rollcall docs --fields > docs/fields.md
	$(Q)$(O)/rollcall docs --man > docs/rollcall.1

SHARED := docs/prometheus/rollcall-alerts.yml docs/prometheus/prometheus.yml docs/grafana/rollcall.json
INSTALL_LIB := $(DESTDIR)$(PREFIX)/lib
install: $(PROGRAMS)
	install -d $(DESTDIR)$(PREFIX)/bin $(INSTALL_LIB)/pkgconfig $(DESTDIR)$(PREFIX)/include \
		$(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(O)/rollcall $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(SO) $(INSTALL_LIB)/
	ln -sf librollcall.so.0 $(INSTALL_LIB)/librollcall.so
	$(if $(ALLOC_SO),install -m 755 $(ALLOC_SO) $(INSTALL_LIB)/)
	install -m 755 $(CUDA_SO) $(INSTALL_LIB)/
	install -m 644 libtelemetry/rollcall.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 docs/rollcall.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -d $(DESTDIR)$(PREFIX)/share/rollcall
	install -m 644 $(SHARED) $(DESTDIR)$(PREFIX)/share/rollcall/
	sed -e 's|@PREFIX@|$(PREFIX)|g' \
		-e "s|@VERSION@|$$(sed -n 's/^#define ROLLCALL_VERSION "\(.*\)"/\1/p' libtelemetry/rollcall.h)|" \
		libtelemetry/rollcall.pc.in > $(INSTALL_LIB)/pkgconfig/rollcall.pc

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/rollcall $(INSTALL_LIB)/librollcall.so.0 $(INSTALL_LIB)/librollcall.so \
		$(INSTALL_LIB)/librollcall-alloc.so $(INSTALL_LIB)/librollcall-cuda.so $(DESTDIR)$(PREFIX)/include/rollcall.h \
		$(DESTDIR)$(PREFIX)/share/man/man1/rollcall.1 $(INSTALL_LIB)/pkgconfig/rollcall.pc \
		$(addprefix $(DESTDIR)$(PREFIX)/share/rollcall/,$(notdir $(SHARED)))

clean:
	rm -rf build build-*

-include $(shell find $(O) -name '*.d' 2>/dev/null)
