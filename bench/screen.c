// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// What a monitor costs by the number of processes: from nothing to the first
// screen, each refresh with a new row in every process, and how much memory it
// takes; without the terminal itself. bench/screen.

#include "bench/measure.h"
#include "bench/segments.h"
#include "monitor/feed.h"
#include "monitor/view.h"

#include <sys/resource.h>

#define ROUNDS	  9
#define REFRESHES 30

static void draw(struct mon_model *model, struct mon_view *view, struct mon_grid *grid)
{
	mon_model_settle(model);
	if (mon_grid_reset(grid, 120, 40, false) != 0)
		exit(1);
	mon_view_draw(grid, model, view);
}

static void measure(unsigned n)
{
	static const struct mon_options options;
	struct rusage usage;
	struct segments segments;
	struct mon_grid grid = {0};
	struct mon_view view;
	double first_ms[ROUNDS], refresh_us[REFRESHES];
	uint32_t n_found = 0;
	mon_view_init(&view);
	segments_start(&segments, n, 600);
	for (int round = 0; round < ROUNDS; round++) {
		struct mon_live *live;
		struct mon_model model;
		uint64_t begin = now_ns();
		mon_feed_init(&model, MON_HISTORY_SHORT, &options);
		if (mon_live_open(segments.directory, false, &live, NULL) ||
		    mon_feed_live(live, &model, NULL, MON_FOLLOW_SEARCHES, NULL) < 0)
			exit(1);
		draw(&model, &view, &grid);
		first_ms[round] = (double)(now_ns() - begin) / 1e6;
		n_found = model.n_processes;
		for (int i = 0; i < REFRESHES && round == 0; i++) {
			segments_publish(&segments);
			begin = now_ns();
			mon_feed_live(live, &model, NULL, MON_FOLLOW_SEARCHES, NULL);
			draw(&model, &view, &grid);
			refresh_us[i] = (double)(now_ns() - begin) / 1e3;
		}
		mon_model_fini(&model);
		mon_live_close(live);
	}
	mon_grid_fini(&grid);
	segments_end(&segments);
	if (n_found != n)
		exit(1);
	double us = median(refresh_us, REFRESHES);
	getrusage(RUSAGE_SELF, &usage);
	printf("%4u processes: first screen %7.2f ms, refresh %6.0f us, at 10 Hz %5.1f ms/s, resident so far %5.1f MiB%s\n", n,
	       median(first_ms, ROUNDS), us, us / 100, (double)usage.ru_maxrss / 1024,
	       n == 50 ? "   goals 15 ms, 6.6 ms/s, 6 MiB" : "");
}

int main(void)
{
	measure(1);
	measure(10);
	measure(50);
	measure(200);
	return 0;
}
