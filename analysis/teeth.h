// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// Saw-teeth: series that climb and are swept. They are judged by their floor.

#ifndef ANALYSIS_TEETH_H
#define ANALYSIS_TEETH_H

#include "series.h"
#include "shapes.h"

// Whether the floor under cells [window->from, n_cells) rises less than half
// as fast as the window's slope says: then peaks grow, not the class.
bool analysis_floor_is_flat(const struct analysis_series *series, const struct analysis_window *window);

// Five or more teeth whose floor rises: true, and *ret is the floor's slope.
// *ret_n_troughs is the number of deep troughs in any case.
bool analysis_teeth_rise(const struct analysis_series *series, const struct analysis_history *history,
			 struct analysis_window *ret, unsigned *ret_n_troughs);

// Many teeth, too short to be told apart: they are judged by the lowest point
// of stretches that hold about three sweeps each. True if that floor rises.
bool analysis_many_teeth_rise(const struct analysis_series *series, const struct analysis_history *history,
			      struct analysis_window *ret);

// Fewer than five teeth, and what has risen since the last sweep is less than
// four sweeps: the next one may take it all.
bool analysis_is_within_a_tooth(const struct analysis_series *series, const struct analysis_history *history);

#endif
