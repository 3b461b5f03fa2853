// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Boundary slots: how a program thread hands an event to the publisher without
// waiting. A ticket is taken with a compare-and-swap that fails when all slots
// are taken; the slot is filled and then marked with its ticket. The slots lie
// in the segment, so that a boundary outlives a SIGKILL between here and the
// next tick; a reader of a dead segment drains them as the publisher would.

#include "process.h"
#include "publisher.h"

#include "../collector.h"
#include "../fence.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../banned.h"

// Set by the publisher thread, read by all: pairs with each other.
static _Atomic(uint8_t *) slots_base;
static _Atomic(uint8_t *) control_base;
static _Atomic pid_t slots_pid;
static _Atomic uint64_t dropped, refused;

static _Atomic uint64_t *word_at(uint8_t *base, size_t word)
{
	return (_Atomic uint64_t *)(void *)(base + 8 * word);
}

void tele_slots_attach(uint8_t *control, uint8_t *slots)
{
	atomic_store_explicit(&slots_base, slots, memory_order_relaxed);
	atomic_store_explicit(&slots_pid, getpid(), memory_order_relaxed);
	atomic_store_explicit(&control_base, control, memory_order_release);
}

void tele_slots_detach(void)
{
	atomic_store_explicit(&control_base, NULL, memory_order_release);
}

void tele_slots_note_exec(bool is_in_exec)
{
	uint8_t *control = atomic_load_explicit(&control_base, memory_order_acquire);
	// A child of vfork has all of this in common with its parent but the pid.
	if (control && tele_publisher_is_active() &&
	    atomic_load_explicit(&slots_pid, memory_order_relaxed) == getpid())
		atomic_store_explicit(word_at(control, TELE_CONTROL_EXEC), is_in_exec, memory_order_relaxed);
}

uint64_t tele_boundaries_dropped(void)
{
	return atomic_load_explicit(&dropped, memory_order_relaxed);
}

uint64_t tele_registrations_refused(void)
{
	return atomic_load_explicit(&refused, memory_order_relaxed);
}

void tele_reset_counts(void)
{
	atomic_store_explicit(&dropped, 0, memory_order_relaxed);
	atomic_store_explicit(&refused, 0, memory_order_relaxed);
}

void tele_count_refused(void)
{
	atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
}

int tele_slot_claim(struct tele_slot *ret_slot, uint32_t type, uint64_t subject, uint64_t value,
		    const char *text)
{
	uint8_t *control = atomic_load_explicit(&control_base, memory_order_acquire);
	if (!control || !tele_publisher_is_active())
		return -ENODATA;
	_Atomic uint64_t *claimed = word_at(control, TELE_CONTROL_CLAIMED);
	_Atomic uint64_t *drained = word_at(control, TELE_CONTROL_DRAINED);
	uint64_t ticket = atomic_load_explicit(claimed, memory_order_relaxed);
	do {
		// Acquire: the publisher is done with the slot that this frees. It may be
		// past a ticket that others have taken since; the exchange fails then.
		uint64_t taken = ticket - atomic_load_explicit(drained, memory_order_acquire);
		if ((int64_t)taken >= TELE_SLOTS) {
			atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
			return -EAGAIN;
		}
	} while (!atomic_compare_exchange_weak_explicit(claimed, &ticket, ticket + 1,
							memory_order_relaxed, memory_order_relaxed));
	uint8_t *base = atomic_load_explicit(&slots_base, memory_order_relaxed) +
			(ticket % TELE_SLOTS) * TELE_SLOT_BYTES;
	uint64_t *words = (uint64_t *)(void *)base;
	size_t text_len = text ? strnlen(text, TELE_STRING_BYTES_MAX) : 0;
	atomic_store_explicit(word_at(base, TELE_SLOT_THREAD), (uint64_t)syscall(SYS_gettid),
			      memory_order_relaxed);
	words[TELE_SLOT_TYPE] = type;
	words[TELE_SLOT_AT] = rollcall_clock_ns();
	words[TELE_SLOT_SUBJECT] = subject;
	words[TELE_SLOT_VALUE] = value;
	words[TELE_SLOT_TEXT_LEN] = text_len;
	if (text_len)
		memcpy(words + TELE_SLOT_TEXT, text, text_len);
	*ret_slot = (struct tele_slot){
		.words = words,
		.ticket = ticket,
		.used_words = TELE_SLOT_PARTS,
	};
	return 0;
}

uint64_t *tele_slot_section(struct tele_slot *slot, unsigned section, uint32_t instance,
			    uint32_t n_values)
{
	TELE_ASSERT(section < TELE_SECTION_COUNT && n_values <= UINT16_MAX);
	if (slot->used_words + 1 + n_values > TELE_SLOT_BYTES / 8)
		return NULL;
	slot->words[slot->used_words] = section | (uint64_t)n_values << 16 | (uint64_t)instance << 32;
	uint64_t *values = slot->words + slot->used_words + 1;
	slot->used_words += 1 + n_values;
	return values;
}

void tele_slot_publish(struct tele_slot *slot)
{
	slot->words[TELE_SLOT_TYPE] |= (uint64_t)slot->used_words << 32;
	// Pairs with the load in tele_slots_front, and with readers after death.
	atomic_store_explicit(word_at((uint8_t *)slot->words, TELE_SLOT_FILLED), slot->ticket + 1,
			      memory_order_release);
	// Half of them taken: the next tick may be too late for the other half.
	if (TELE_UNLIKELY(slot->ticket - tele_slots_drained() == TELE_SLOTS / 2))
		tele_ask_drain();
}

uint64_t tele_slots_drained(void)
{
	uint8_t *control = atomic_load_explicit(&control_base, memory_order_relaxed);
	return control ? atomic_load_explicit(word_at(control, TELE_CONTROL_DRAINED),
					      memory_order_relaxed)
		       : 0;
}

bool tele_slots_are_drained(void)
{
	uint8_t *control = atomic_load_explicit(&control_base, memory_order_relaxed);
	if (!control)
		return true;
	// What was collected before was there before this looks: who counted on
	// had claimed by then.
	tele_fence_acquire();
	return tele_slots_drained() ==
	       atomic_load_explicit(word_at(control, TELE_CONTROL_CLAIMED), memory_order_relaxed);
}

void tele_slots_pop(void)
{
	uint8_t *control = atomic_load_explicit(&control_base, memory_order_relaxed);
	uint8_t *base = atomic_load_explicit(&slots_base, memory_order_relaxed) +
			(tele_slots_drained() % TELE_SLOTS) * TELE_SLOT_BYTES;
	// The next claimer is unknown until it has written its name here.
	atomic_store_explicit(word_at(base, TELE_SLOT_THREAD), 0, memory_order_relaxed);
	atomic_fetch_add_explicit(word_at(control, TELE_CONTROL_DRAINED), 1, memory_order_release);
}

// Whether the thread that claimed the slot can still fill it.
static bool is_claimer_gone(uint64_t thread)
{
	return thread != 0 && syscall(SYS_tgkill, getpid(), (pid_t)thread, 0) < 0 && errno == ESRCH;
}

const uint64_t *tele_slots_front(void)
{
	uint8_t *control = atomic_load_explicit(&control_base, memory_order_relaxed);
	if (!control)
		return NULL;
	for (;;) {
		uint64_t ticket = tele_slots_drained();
		uint64_t claimed =
			atomic_load_explicit(word_at(control, TELE_CONTROL_CLAIMED), memory_order_relaxed);
		if (ticket == claimed)
			return NULL;
		uint8_t *base = atomic_load_explicit(&slots_base, memory_order_relaxed) +
				(ticket % TELE_SLOTS) * TELE_SLOT_BYTES;
		uint64_t filled =
			atomic_load_explicit(word_at(base, TELE_SLOT_FILLED), memory_order_acquire);
		if (filled == ticket + 1)
			return (const uint64_t *)(const void *)base;
		uint64_t thread =
			atomic_load_explicit(word_at(base, TELE_SLOT_THREAD), memory_order_relaxed);
		if (!is_claimer_gone(thread))
			return NULL;
		// Filled in the meantime, by a thread that has ended since?
		if (atomic_load_explicit(word_at(base, TELE_SLOT_FILLED), memory_order_acquire) == ticket + 1)
			return (const uint64_t *)(const void *)base;
		atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
		tele_slots_pop();
	}
}

TELE_EXPORT int rollcall_event(uint32_t type, uint64_t subject, uint64_t value, const char *text)
{
	struct tele_slot slot;
	int failed = tele_slot_claim(&slot, type, subject, value, text);
	if (!failed)
		tele_slot_publish(&slot);
	return failed;
}
