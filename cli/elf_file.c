// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// A reader of ELF headers by pread: nothing is mapped, so a file that shrinks
// meanwhile is only read short. Tables of another word size are not walked:
// that the file is not ours to preload is all there is to know.

#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <unistd.h>

#include "../libtelemetry/banned.h"

#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#else
#error "name this machine's ELF number here"
#endif

enum {
	SEGMENTS_MAX = 256,
	SECTIONS_MAX = 4096,
	SYMBOLS_MAX = 1 << 20,
	STRINGS_BYTES_MAX = 64 << 20,
	NEEDS_MAX = 4096,
};

static bool read_at(int fd, void *buffer, size_t n_bytes, uint64_t offset)
{
	if (offset > INT64_MAX - n_bytes)
		return false;
	return pread(fd, buffer, n_bytes, (off_t)offset) == (ssize_t)n_bytes;
}

static void read_interpreter(int fd, const Elf64_Ehdr *header, struct cli_elf *elf)
{
	unsigned n_segments = header->e_phnum < SEGMENTS_MAX ? header->e_phnum : SEGMENTS_MAX;
	for (unsigned i = 0; i < n_segments; i++) {
		Elf64_Phdr segment;
		if (!read_at(fd, &segment, sizeof(segment), header->e_phoff + i * sizeof(segment)))
			return;
		if (segment.p_type != PT_INTERP)
			continue;
		elf->has_interpreter = true;
		size_t n_bytes = segment.p_filesz < sizeof(elf->interpreter) ? segment.p_filesz
									     : sizeof(elf->interpreter) - 1;
		if (!read_at(fd, elf->interpreter, n_bytes, segment.p_offset))
			n_bytes = 0;
		elf->interpreter[n_bytes] = '\0';
		return;
	}
}

// Whether one of the symbols is a definition of that name.
static bool defines(int fd, const Elf64_Shdr *symbols, const char *strings, size_t strings_bytes, const char *name)
{
	enum { BATCH = 256 };
	Elf64_Sym batch[BATCH];
	uint64_t n_symbols = symbols->sh_size / sizeof(Elf64_Sym);
	if (n_symbols > SYMBOLS_MAX)
		n_symbols = SYMBOLS_MAX;
	for (uint64_t from = 0; from < n_symbols; from += BATCH) {
		size_t n = n_symbols - from < BATCH ? (size_t)(n_symbols - from) : BATCH;
		if (!read_at(fd, batch, n * sizeof(batch[0]), symbols->sh_offset + from * sizeof(batch[0])))
			return false;
		for (size_t i = 0; i < n; i++)
			if (batch[i].st_shndx != SHN_UNDEF && batch[i].st_name < strings_bytes &&
			    strcmp(strings + batch[i].st_name, name) == 0)
				return true;
	}
	return false;
}

// The strings of a section of symbols or of needs, or NULL. The caller frees.
static char *read_strings(int fd, const Elf64_Ehdr *header, const Elf64_Shdr *section, size_t *ret_bytes)
{
	Elf64_Shdr names;
	if (section->sh_link >= header->e_shnum ||
	    !read_at(fd, &names, sizeof(names), header->e_shoff + section->sh_link * sizeof(names)) ||
	    names.sh_size == 0 || names.sh_size > STRINGS_BYTES_MAX)
		return NULL;
	char *strings = malloc(names.sh_size);
	*ret_bytes = names.sh_size;
	if (strings && read_at(fd, strings, names.sh_size, names.sh_offset) &&
	    strings[names.sh_size - 1] == '\0')
		return strings;
	free(strings);
	return NULL;
}

// Whether the dynamic section needs a library whose name begins like that.
static bool needs(int fd, const Elf64_Shdr *dynamic, const char *strings, size_t strings_bytes,
		  const char *beginning)
{
	uint64_t n = dynamic->sh_size / sizeof(Elf64_Dyn);
	for (uint64_t i = 0; i < n && i < NEEDS_MAX; i++) {
		Elf64_Dyn entry;
		if (!read_at(fd, &entry, sizeof(entry), dynamic->sh_offset + i * sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < strings_bytes &&
		    strncmp(strings + entry.d_un.d_val, beginning, strlen(beginning)) == 0)
			return true;
	}
	return false;
}

static void read_sections(int fd, const Elf64_Ehdr *header, struct cli_elf *elf)
{
	unsigned n_sections = header->e_shnum < SECTIONS_MAX ? header->e_shnum : SECTIONS_MAX;
	for (unsigned i = 0; i < n_sections; i++) {
		Elf64_Shdr section;
		size_t bytes;
		if (!read_at(fd, &section, sizeof(section), header->e_shoff + i * sizeof(section)))
			return;
		if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC)
			continue;
		char *strings = read_strings(fd, header, &section, &bytes);
		if (strings && section.sh_type == SHT_DYNSYM) {
			elf->defines_malloc = defines(fd, &section, strings, bytes, "malloc");
			elf->defines_dlsym = defines(fd, &section, strings, bytes, "dlsym");
		} else if (strings)
			elf->needs_asan = needs(fd, &section, strings, bytes, "libasan.so");
		free(strings);
	}
}

int cli_elf_read(int fd, struct cli_elf *ret_elf)
{
	Elf64_Ehdr header;
	struct cli_elf elf = {0};
	ssize_t got = pread(fd, &header, sizeof(header), 0);
	if (got < 0)
		return -errno;
	if (got < EI_NIDENT || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	const uint16_t one = 1;
	unsigned char native_order = *(const unsigned char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;
	elf.is_native = got == (ssize_t)sizeof(header) && header.e_ident[EI_CLASS] == ELFCLASS64 &&
			header.e_ident[EI_DATA] == native_order && header.e_machine == NATIVE_MACHINE;
	if (elf.is_native) {
		if (header.e_phentsize != sizeof(Elf64_Phdr) && header.e_phnum > 0)
			return 0;
		read_interpreter(fd, &header, &elf);
		if (header.e_shentsize == sizeof(Elf64_Shdr))
			read_sections(fd, &header, &elf);
	}
	*ret_elf = elf;
	return 1;
}
