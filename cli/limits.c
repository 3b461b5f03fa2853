// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The Rollcall developers
//
// NAME=SIZE,NAME=SIZE. A name that no class has is no error: a trace may hold
// it, and the next one may not.

#include "limits.h"

#include "../monitor/monitor.h"
#include "text.h"

#include <errno.h>

#include "../libtelemetry/banned.h"

int cli_limits(const struct cli_call *call, enum cli_option_id option, struct analysis_limits *ret_limits)
{
	const char *text = call->values[option];
	mon_limits_init(ret_limits);
	while (text && *text) {
		char item[ANALYSIS_CLASS_NAME_MAX + 32];
		size_t len = strcspn(text, ",");
		snprintf(item, sizeof(item), "%.*s", (int)len, text);
		int result = len < sizeof(item) ? analysis_limits_add(ret_limits, item) : -EINVAL;
		if (result == -ENOSPC)
			return cli_fail(call, CLI_USAGE, "--capacity names more than %d limits", ANALYSIS_LIMITS_MAX);
		if (result < 0)
			return cli_fail(call, CLI_USAGE, "--capacity %s is not NAME=SIZE, e.g. device=12227MiB", item);
		text += len + (text[len] == ',');
	}
	return CLI_OK;
}
