// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Two schedules are duplicates when the compiler made the same instructions of
// them, whatever the source and the flags were. So the digest covers the loaded
// sections that hold code or constants, and not names, notes or relocations.
// The file is the compiler's: its offsets are checked before they are used.

#include "digest.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static int digest_image(const unsigned char *image, uint64_t image_bytes, uint64_t *ret_digest)
{
	ElfW(Ehdr) head;
	XXH3_state_t state;

	if (image_bytes < sizeof(head))
		return -EINVAL;
	memcpy(&head, image, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_shentsize != sizeof(ElfW(Shdr)) ||
			head.e_shoff > image_bytes || head.e_shnum > (image_bytes - head.e_shoff) / sizeof(ElfW(Shdr)))
		return -EINVAL;
	XXH3_64bits_reset(&state);
	for (unsigned i = 0; i < head.e_shnum; i++) {
		ElfW(Shdr) section;
		memcpy(&section, image + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_ALLOC) || (section.sh_flags & SHF_WRITE))
			continue;
		if (section.sh_offset > image_bytes || section.sh_size > image_bytes - section.sh_offset)
			return -EINVAL;
		XXH3_64bits_update(&state, image + section.sh_offset, section.sh_size);
	}
	*ret_digest = XXH3_64bits_digest(&state);
	return 0;
}

int tile_digest(const char *path, uint64_t *ret_digest)
{
	struct stat status;
	void *image = MAP_FAILED;
	int file = open(path, O_RDONLY | O_CLOEXEC), r;

	if (file < 0)
		return -errno;
	if (fstat(file, &status) == 0 && status.st_size > 0)
		image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	if (image == MAP_FAILED)
		return -EINVAL;
	r = digest_image(image, (uint64_t)status.st_size, ret_digest);
	munmap(image, (size_t)status.st_size);
	return r;
}
