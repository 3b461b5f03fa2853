// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Calls of the driver that never come back: the program jumps out of one, or its
// thread ends there. The thread, and all others, count on; and what the call was
// to end is held until something is known of its end.

#define ROLLCALL_BUILDING
#include "../libtelemetry/rollcall.h"

#include "support/cuda_books.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>

#include <cmocka.h>

static jmp_buf before_the_call;
static fake_call_out_fn *call_out;

static void jump(void *context)
{
	(void)context;
	longjmp(before_the_call, 1);
}

static void open_all(void)
{
	open_driver();
	call_out = (fake_call_out_fn *)get("fake_call_out");
}

// The next counted call is left by a jump.
#define ABANDON(call)                          \
	do {                                   \
		call_out(jump, NULL);          \
		if (setjmp(before_the_call) == 0) { \
			(void)call;            \
			CHECK(false);          \
		}                              \
	} while (0)

IN_CHILD(a_thread_that_jumped_out_of_a_call_counts_on)
{
	static unsigned long long kept, freed;
	static void *context;
	static struct tele_cuda_values cuda;
	open_all();
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	ABANDON(cuMemAlloc_v2(&kept, 4096));
	size_t pitch;
	CHECK(cuMemAllocPitch_v2(&kept, &pitch, 1000, 3, 4) == 0 && cuMemAlloc_v2(&freed, 512) == 0);
	compare_all("after an allocation");
	// What a free was to end lives, as it does in the driver.
	ABANDON(cuMemFree_v2(freed));
	CHECK(cuMemFree_v2(freed) == 0);
	compare_all("after a free");
	ABANDON(cuCtxDestroy_v2(context));
	CHECK(set_current(context) == 0 && cuMemFree_v2(kept) == 0);
	compare_all("after the end of a context");
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.unknown_frees == 0);
	CHECK(cuCtxDestroy_v2(context) == 0);
	compare_all("at the end");
}

IN_CHILD(what_an_abandoned_call_was_to_release_is_held)
{
	static const struct cuda_allocation_prop prop = {.type = 1, .location = {1, 0}};
	static const struct cuda_pool_props props = {.location = {1, 0}};
	static unsigned long long handle, address, more;
	static struct CUmemPoolHandle_st *pool;
	static void *context;
	open_all();
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0);
	CHECK(cuMemCreate(&handle, 2 << 20, (const void *)&prop, 0) == 0);
	CHECK(cuMemAddressReserve(&address, 4 << 20, 0, 0, 0) == 0);
	CHECK(cuMemMap(address, 2 << 20, 0, handle, 0) == 0);
	CHECK(cuMemRetainAllocationHandle(&more, P(address)) == 0 && more == handle);
	ABANDON(cuMemRelease(handle));
	CHECK(cuMemRelease(handle) == 0 && cuMemRelease(handle) == 0);
	compare_all("mapped still");
	ABANDON(cuMemUnmap(address, 2 << 20));
	CHECK(cuMemPoolCreate(&pool, (const void *)&props) == 0);
	compare_all("and still");
	ABANDON(cuMemPoolDestroy(pool));
	CHECK(cuMemUnmap(address, 2 << 20) == 0);
	compare_all("unmapped");
	CHECK(cuMemPoolDestroy(pool) == 0 && cuMemAddressFree(address, 4 << 20) == 0);
	compare_all("at the end");
}

// ---- Threads that end in a call ----------------------------------------------------

static void end_thread(void *context)
{
	(void)context;
	pthread_exit(NULL);
}

static void be_cancelled(void *context)
{
	(void)context;
	pthread_cancel(pthread_self());
	for (;;)
		pause();
}

struct ending {
	void (*how)(void *);
	void *context;
	unsigned long long address;
};

static void *end_in_a_free(void *argument)
{
	struct ending *ending = argument;
	CHECK(set_current(ending->context) == 0);
	call_out(ending->how, NULL);
	(void)cuMemFree_v2(ending->address);
	CHECK(false);
	return NULL;
}

static void end_in_calls(void (*how)(void *))
{
	struct ending ending = {.how = how};
	pthread_t thread;
	struct tele_cuda_values cuda;
	open_all();
	CHECK(cuCtxCreate_v2((void *)&ending.context, 0, 0) == 0);
	CHECK(cuMemAlloc_v2(&ending.address, 4096) == 0);
	for (unsigned i = 0; i < 3; i++) {
		CHECK(pthread_create(&thread, NULL, end_in_a_free, &ending) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
		compare_all("the thread is gone");
	}
	CHECK(cuMemFree_v2(ending.address) == 0);
	compare_all("at the end");
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.unknown_frees == 0);
}

IN_CHILD(what_a_thread_that_exits_in_a_free_held_is_held)
{
	end_in_calls(end_thread);
}

IN_CHILD(what_a_thread_that_is_cancelled_in_a_free_held_is_held)
{
	end_in_calls(be_cancelled);
}

// ---- Stacks ------------------------------------------------------------------------

static unsigned long long from_handler;

static void allocate(int signal)
{
	(void)signal;
	CHECK(cuMemAlloc_v2(&from_handler, 64) == 0 && cuMemFree_v2(from_handler) == 0);
}

static void raise_signal(void *context)
{
	(void)context;
	raise(SIGUSR1);
}

// The driver allocates in the handler: raised where nobody is in the malloc.
#if defined(__SANITIZE_THREAD__)
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "report_signal_unsafe=0";
}
#endif

// A handler's stack lies anywhere: that says nothing of the call under way, which
// comes back. What the handler calls is within it, and not counted.
IN_CHILD(a_handler_on_a_stack_of_its_own_abandons_nothing)
{
	char above[64 << 10]; // the frames of what is called here
	const stack_t there = {.ss_sp = above, .ss_size = sizeof(above)};
	const struct sigaction action = {.sa_handler = allocate, .sa_flags = SA_ONSTACK};
	unsigned long long address = 0;
	void *context;
	struct tele_cuda_values cuda;
	open_all();
	CHECK(sigaltstack(&there, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(cuCtxCreate_v2((void *)&context, 0, 0) == 0 && cuMemAlloc_v2(&address, 4096) == 0);
	call_out(raise_signal, NULL);
	CHECK(cuMemFree_v2(address) == 0);
	compare_all("interrupted");
	CHECK(collect("cuda", 0, &cuda, sizeof(cuda)) && cuda.unknown_frees == 0 && cuda.calls == 4);
}

int main(int n_arguments, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_jumped_out_of_a_call_counts_on),
		cmocka_unit_test(what_an_abandoned_call_was_to_release_is_held),
		cmocka_unit_test(what_a_thread_that_exits_in_a_free_held_is_held),
		cmocka_unit_test(what_a_thread_that_is_cancelled_in_a_free_held_is_held),
		cmocka_unit_test(a_handler_on_a_stack_of_its_own_abandons_nothing),
	};
	(void)n_arguments;
	without_off(arguments);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
