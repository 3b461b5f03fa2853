// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The few questions asked of an ELF file, answered from its bytes on disk.

#ifndef CLI_ELF_FILE_H
#define CLI_ELF_FILE_H

#include "../libtelemetry/base.h"

struct cli_elf {
	bool is_native; // our word size, byte order and machine
	bool has_interpreter;
	char interpreter[256];
	bool defines_malloc; // in its dynamic symbols
	bool defines_dlsym;
	bool needs_asan;     // the address sanitizer's runtime, as a shared object
};

// Reads the file open at fd. Returns 1 for an ELF executable, 0 for something
// else or a file too damaged to tell, -errno when it cannot be read. Every
// offset in it is foreign and checked.
int cli_elf_read(int fd, struct cli_elf *ret_elf);

#endif
