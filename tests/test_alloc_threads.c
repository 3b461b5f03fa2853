// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// The books of heaps whose threads come and go, free what is not theirs, or are
// lost in a fork.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc_shim.h"
#include "support/heap_books.h"

#include "../alloc/alloc.h"

static _Atomic bool magazine_is_full, magazine_may_go;

static void *fill_a_magazine(void *nothing)
{
	enum { N = 3000 };
	static void *blocks[N];
	for (int i = 0; i < N; i++)
		blocks[i] = alloc_malloc(48);
	for (int i = 0; i < N; i++)
		alloc_free(blocks[i]);
	magazine_is_full = true;
	while (!magazine_may_go)
		usleep(1000);
	return nothing;
}

// In the child the heaps of the other threads are orphans with full magazines:
// one thread takes their spans, another the heap.
static void a_child_takes_the_heaps_of_threads_it_lacks(void **state)
{
	(void)state;
	enum { N = 6000 };
	static void *blocks[N];
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, fill_a_magazine, NULL), 0);
	while (!magazine_is_full)
		usleep(1000);
	pid_t child = fork();
	if (child == 0) {
		const char *difference = "";
		for (int i = 0; i < N; i++)
			blocks[i] = alloc_malloc(48);
		uint64_t n_differences = alloc_audit(&difference);
#if !defined(__SANITIZE_THREAD__) // it knows no threads of such a child
		magazine_may_go = true;
		pthread_create(&thread, NULL, fill_a_magazine, NULL);
		pthread_join(thread, NULL);
#endif
		for (int i = 0; i < N; i++)
			alloc_free(blocks[i]);
		n_differences += alloc_audit(&difference);
		_exit(n_differences != 0);
	}
	int status = -1;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	magazine_may_go = true;
	pthread_join(thread, NULL);
}

static pthread_key_t destructor_key;

static void allocate_in_a_destructor(void *value)
{
	alloc_free(value);
	alloc_free(alloc_malloc(333));
}

static void *allocate_and_leave(void *unused)
{
	(void)unused;
	pthread_setspecific(destructor_key, alloc_malloc(200));
	alloc_free(alloc_malloc(5000));
	return NULL;
}

// P6: snmalloc PR 161, jemalloc 896.
static void ten_thousand_short_threads_leave_nothing_behind(void **state)
{
	(void)state;
	assert_int_equal(pthread_key_create(&destructor_key, allocate_in_a_destructor), 0);
	struct alloc_books before = read_books(), books;
	for (int i = 0; i < 10000; i++) {
		pthread_t thread;
		assert_int_equal(pthread_create(&thread, NULL, allocate_and_leave, NULL), 0);
		pthread_join(thread, NULL);
		if (i % 1000 == 0) {
			books = read_books();
			assert_true(books.cache_bytes < MIB);
		}
	}
	books = read_books();
	assert_int_equal(books.live_bytes, before.live_bytes);
	assert_true(books.mapped_bytes < before.mapped_bytes + 16 * MIB);
	audit();
}

static void *_Atomic swapped[256];
static _Atomic int crowd_at_work;

static void *allocate_and_swap(void *argument)
{
	uint64_t seed = (uint64_t)(uintptr_t)argument * 2654435761u + 1;
	for (int i = 0; i < 3000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		size_t size_bytes = (seed >> 40) % 50 ? (seed >> 33) % 1500 : (seed >> 33) % 200000;
		alloc_free(atomic_exchange(&swapped[(seed >> 56) & 255], alloc_malloc(size_bytes)));
		if ((seed >> 20) % 3000 == 0)
			break; // exits at random
	}
	atomic_fetch_sub(&crowd_at_work, 1);
	return NULL;
}

// B2: mimalloc 1118, 929, 265.
static void sixty_four_threads_balance_and_counters_never_fall(void **state)
{
	(void)state;
	struct alloc_books before = read_books();
	uint64_t last_mallocs = 0, last_frees = 0;
	for (int round = 0; round < 3; round++) {
		pthread_t threads[64];
		crowd_at_work = 64;
		for (uintptr_t i = 0; i < 64; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_swap, (void *)(i + 1)), 0);
		do {
			struct alloc_reading reading;
			alloc_walk(&reading, NULL);
			assert_true(alloc_books_balanced(&reading.books));
			if (reading.settled)
				assert_int_equal(reading.books.mapped_bytes, reading.counted_bytes);
			assert_true(reading.mallocs >= last_mallocs && reading.frees >= last_frees);
			last_mallocs = reading.mallocs;
			last_frees = reading.frees;
			usleep(1000);
		} while (crowd_at_work);
		for (int i = 0; i < 64; i++)
			pthread_join(threads[i], NULL);
		audit();
	}
	for (int i = 0; i < 256; i++)
		alloc_free(atomic_exchange(&swapped[i], NULL));
	assert_int_equal(read_books().live_bytes, before.live_bytes);
}

static void *free_elsewhere(void *block)
{
	alloc_free(block);
	return NULL;
}

static void a_block_freed_by_a_thread_that_ends_is_cache_and_then_free(void **state)
{
	(void)state;
	void *block = alloc_malloc(700); // first: it may drain what others sent
	struct alloc_books before = read_books();
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, free_elsewhere, block), 0);
	pthread_join(thread, NULL);
	struct alloc_books parked = read_books();
	assert_int_equal(parked.live_bytes, before.live_bytes - 700);
	assert_int_equal(parked.cache_bytes, before.cache_bytes + 704);
	alloc_trim(0);
	assert_int_equal(read_books().cache_bytes, 0);
	audit();
}

int main(void)
{
	alloc_free(alloc_malloc(1));
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_takes_the_heaps_of_threads_it_lacks),
		cmocka_unit_test(ten_thousand_short_threads_leave_nothing_behind),
		cmocka_unit_test(sixty_four_threads_balance_and_counters_never_fall),
		cmocka_unit_test(a_block_freed_by_a_thread_that_ends_is_cache_and_then_free),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
