// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// CRC-32C (Castagnoli), as in iSCSI (RFC 3720, B.4): the processor's
// instruction where there is one, a table elsewhere.

#ifndef TELE_CRC32C_H
#define TELE_CRC32C_H

#include "base.h"

// Continues a checksum over n_bytes; start with 0. Thread-safe.
uint32_t tele_crc32c(uint32_t crc, const void *bytes, size_t n_bytes);

// The same without the instruction, so that it can be tested everywhere.
uint32_t tele_crc32c_by_table(uint32_t crc, const void *bytes, size_t n_bytes);

#endif
