// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The publisher inside a process, as the parts that feed it see it: the census
// and the program's gauges. One background thread samples, encodes and writes;
// program threads only claim boundary slots and intern strings.

#ifndef TELE_PUBLISHER_H
#define TELE_PUBLISHER_H

#include "../base.h"
#include "../collector.h"
#include "../event.h"
#include "../fields.h"

// To be called by every census, candidate or driver call before anything else:
// the first such call of a process starts its publisher, if it may publish, and
// waits (at most 200 ms) until the segment is there. Later calls cost one load.
void tele_publisher_touch(void);

// True while rows are being published (or about to be).
bool tele_publisher_is_active(void);

// ---- Boundary slots -------------------------------------------------------------

#define TELE_SLOTS 64
#define TELE_SLOT_BYTES 4096
#define TELE_SLOT_TEXT_BYTES 256

// A claimed slot, to be filled and published by the claiming thread at once.
struct tele_slot {
	uint64_t *words; // private
	uint64_t ticket;
	size_t used_words;
};

// Claims a slot for one event. `text` (may be NULL) is cut at 255 bytes.
// Returns 0; -EAGAIN when all slots are taken (counted); -ENODATA when this
// process does not publish.
int tele_slot_claim(struct tele_slot *ret_slot, uint32_t type, uint64_t subject, uint64_t value,
		    const char *text);

// Adds the values of one section as they are at this boundary and returns where
// to put n_values words (in table order), or NULL when the slot is full: the
// row then keeps that section's last values and time.
uint64_t *tele_slot_section(struct tele_slot *slot, unsigned section, uint32_t instance,
			    uint32_t n_values);

// Makes the slot visible to the publisher and to readers.
void tele_slot_publish(struct tele_slot *slot);

// ---- Strings ----------------------------------------------------------------------

// The id of a text that fields of unit STRING may hold (phases, device and owner
// names): at most 255 bytes, 4,095 of them for the life of the process. Takes a
// lock that only callers of this function take. Returns TELE_UNKNOWN when there
// is no room (counted as refused).
uint64_t tele_intern(const char *text);

// ---- Counts --------------------------------------------------------------------------

// Counts a registration that found no room, in self.registrations_refused.
void tele_count_refused(void);

#endif
