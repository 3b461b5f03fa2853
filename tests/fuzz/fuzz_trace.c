// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Whole traces of a liar: the input is a list of pieces of a file, blocks among
// them with their checksums put right, read to the end by offsets and as a
// pipe, with a seek between, and exported. Nothing may crash, and the numbers of an
// instance's records must rise.

#include "libtelemetry/trace.h"

#include "libtelemetry/crc32c.h"
#include "libtelemetry/identity.h"
#include "libtelemetry/trace_wire.h"
#include "recorder/export.h"
#include "recorder/html.h"
#include "recorder/verify.h"
#include "tests/support/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static uint8_t file[FILE_BYTES_MAX];
static size_t file_bytes;

static void put(const void *bytes, size_t n_bytes)
{
	if (n_bytes > sizeof(file) - file_bytes)
		return;
	memcpy(file + file_bytes, bytes, n_bytes);
	file_bytes += n_bytes;
}

static void put_header(void)
{
	struct tele_trace_header header = {
		.magic = TELE_TRACE_MAGIC,
		.endian_mark = TELE_ENDIAN_MARK,
		.major = TELE_TRACE_MAJOR,
		.header_bytes = TELE_TRACE_HEADER_BYTES,
	};
	static const uint8_t zeroes[TELE_TRACE_HEADER_BYTES - sizeof(header)];
	header.checksum = tele_crc32c(0, &header, offsetof(struct tele_trace_header, checksum));
	put(&header, sizeof(header));
	put(zeroes, sizeof(zeroes));
}

static void put_stream(const struct test_series *series, const uint8_t *changes, size_t n_changes)
{
	static uint8_t block[TELE_BLOCK_HEADER_BYTES + 512 + TELE_SCHEMA_BYTES_DEFAULT + 8];
	struct tele_block_header header = {
		.type = TELE_BLOCK_STREAM,
		.instance_id = series->identity.instance_id,
		.stored_bytes = (uint32_t)(512 + series->writer.used_bytes),
		.raw_bytes = (uint32_t)(512 + series->writer.used_bytes),
	};
	uint64_t words[TELE_HEADER_WORDS];
	tele_header_encode(&series->identity, NULL, words);
	uint8_t *payload = block + TELE_BLOCK_HEADER_BYTES;
	memcpy(payload, words, sizeof(words));
	memcpy(payload + sizeof(words), series->schema, series->writer.used_bytes);
	for (; n_changes >= 3; n_changes -= 3, changes += 3)
		payload[(changes[0] | (unsigned)changes[1] << 8) % header.raw_bytes] ^= changes[2];
	put(block, tele_block_finish(&header, block));
}

static void put_block(struct test_series *series, const uint8_t *changes, size_t n_changes)
{
	size_t n;
	uint64_t from = changes[0] * UINT64_C(4);
	uint8_t *block = test_series_block(series, from, from + 12, changes[0] & 1, &n);
	struct tele_block_header header;
	memcpy(&header, block, sizeof(header));
	for (; n_changes >= 3; n_changes -= 3, changes += 3)
		block[(changes[0] | (unsigned)changes[1] << 8) % n] ^= changes[2];
	uint32_t stored_bytes = header.stored_bytes;
	memcpy(&header, block, sizeof(header));
	header.stored_bytes = stored_bytes;
	put(block, tele_block_finish(&header, block));
	free(block);
}

static void put_forged(const uint8_t *bytes, size_t n_bytes)
{
	uint8_t block[TELE_BLOCK_HEADER_BYTES + 264];
	struct tele_block_header header = {0};
	size_t head = n_bytes < sizeof(header) ? n_bytes : sizeof(header);
	memcpy(&header, bytes, head);
	header.stored_bytes = (uint32_t)(n_bytes - head);
	header.type = (uint8_t)(1 + header.type % 5);
	header.codec = TELE_CODEC_STORED;
	header.raw_bytes = header.stored_bytes;
	header.instance_id = 1 + header.instance_id % 3;
	memcpy(block + TELE_BLOCK_HEADER_BYTES, bytes + head, n_bytes - head);
	put(block, tele_block_finish(&header, block));
}

static void put_trailer(uint64_t offset, uint64_t n_blocks)
{
	struct tele_trace_trailer trailer = {
		.index_offset = offset,
		.n_blocks = n_blocks,
		.magic = TELE_TRACE_END_MAGIC,
	};
	trailer.checksum = tele_crc32c(0, &trailer, offsetof(struct tele_trace_trailer, checksum));
	put(&trailer, sizeof(trailer));
}

static void hear(struct tele_source *source)
{
	struct tele_record record;
	uint64_t next[4] = {0};
	while (tele_source_next(source, &record, NULL) > 0) {
		uint64_t id = record.instance->identity.instance_id;
		if (id > 3 || (record.kind != TELE_RECORD_ROW && record.kind != TELE_RECORD_EVENT))
			continue;
		if (record.seq < next[id])
			abort();
		next[id] = record.seq + 1;
	}
}

static void read_all(const char *path, uint64_t sought_at_ns)
{
	struct tele_source *source;
	struct tele_trace_info info;
	if (tele_trace_open(path, &source, NULL) != 0)
		return;
	hear(source);
	tele_trace_get_info(source, &info);
	if (tele_trace_seek(source, sought_at_ns, NULL) == 0)
		hear(source);
	tele_source_close(source);
}

static void read_once(const char *path)
{
	struct tele_source *source;
	if (tele_trace_open_once(path, &source, NULL) != 0)
		return;
	hear(source);
	tele_source_close(source);
}

// Texts and numbers of a liar in the formats of other tools.
static void export(const char *path, unsigned format)
{
	struct rec_export_result result;
	const struct rec_export_options options = {
		.input = path,
		.output = "/dev/null",
		.format = (enum rec_export_format)format,
	};
	(void)rec_export(&options, &result, NULL);
}

// The walk over every byte, and the page with all that is shown of a trace.
static void look_at_all(const char *path)
{
	struct mon_out out = {0};
	const struct rec_verify_options verify = {.path = path};
	const struct rec_report_options page = {.path = path};
	(void)rec_verify(&verify, &out, NULL);
	(void)rec_html(&page, &out, NULL);
	if (mon_out_status(&out) == 0 && out.n_bytes && memchr(out.bytes, '\0', out.n_bytes))
		abort();
	mon_out_fini(&out);
}

// Pieces: what kind, how long, then that many bytes.
static void make_file(const uint8_t *data, size_t n_bytes, struct test_series *const series[2])
{
	while (n_bytes >= 2) {
		unsigned kind = data[0] % 8;
		size_t len = data[1] < n_bytes - 2 ? data[1] : n_bytes - 2;
		const uint8_t *piece = data + 2;
		struct test_series *chosen = series[data[0] / 8 % 2];
		if (kind == 0)
			put_stream(chosen, piece, len);
		else if (kind <= 2 && len >= 1)
			put_block(chosen, piece, len);
		else if (kind <= 4 && len >= 1)
			put_forged(piece, len);
		else if (kind == 5)
			put(piece, len);
		else if (kind == 6 && len >= 3)
			put_trailer((piece[0] | (unsigned)piece[1] << 8) * UINT64_C(8), piece[2]);
		else if (kind == 7)
			put(piece, len & ~(size_t)7);
		data += 2 + len;
		n_bytes -= 2 + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static struct test_series *series[2];
	static int fd = -1;
	char path[32];
	if (fd < 0) {
		fd = memfd_create("trace", MFD_CLOEXEC);
		series[0] = test_series_new(1);
		series[1] = test_series_new(1000);
		series[1]->identity.instance_id = 2;
	}
	file_bytes = 0;
	put_header();
	make_file(data, n_bytes, series);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, file, file_bytes, 0) != (ssize_t)file_bytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path, test_series_at_ns(40));
	look_at_all(path);
	read_once(path);
	export(path, (unsigned)(n_bytes % 5));
	if (lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, 0) != 0)
		abort();
	read_all("-", 0);
	return 0;
}
