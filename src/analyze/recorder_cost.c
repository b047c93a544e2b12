#include "analyze/recorder_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char before[] = "Recording a call took ";
static const char between[] = " ns, ";
static const char after[] = " ns of it between entry and exit";
static const char included[] = "Times are as recorded.\n";

enum { PS_PER_NS = 1000 };

struct cn_hook_cost cn_recorder_cost_of(const struct cn_recording *rec)
{
    return rec->libcall_cost.call_ps > rec->call_cost.call_ps ? rec->libcall_cost
                                                              : rec->call_cost;
}

void cn_recorder_cost_print(struct cn_text *text, struct cn_hook_cost cost)
{
    if (cost.call_ps > 0)
        cn_text_printf(text, "%s%.3f%s%.3f%s; times are corrected for it.\n", before,
                       (double)cost.call_ps / PS_PER_NS, between,
                       (double)cost.inner_ps / PS_PER_NS, after);
}

void cn_recorder_cost_replace(struct cn_text *text, const char *description)
{
    const char *line = strstr(description, before);
    const char *end = line ? strchr(line, '\n') : NULL;

    cn_text_add(text, description,
                line ? (size_t)(line - description) : strlen(description));
    cn_text_str_add(text, included);
    cn_text_str_add(text, end ? end + 1 : "");
}

bool cn_recorder_cost_is_included(const char *description)
{
    return description && strstr(description, included);
}

/* Take a number of nanoseconds and the text after it. */
static bool take(const char **at, const char *expected, uint64_t *out_ps)
{
    static const double longest_ns = 1e9;
    char *end;
    double ns = strtod(*at, &end);

    if (end == *at || !(ns >= 0 && ns < longest_ns) ||
        strncmp(end, expected, strlen(expected)) != 0)
        return false;
    *out_ps = (uint64_t)llround(ns * PS_PER_NS);
    *at = end + strlen(expected);
    return true;
}

struct cn_hook_cost cn_recorder_cost_parse(const char *description)
{
    const char *at = description ? strstr(description, before) : NULL;
    struct cn_hook_cost cost;

    if (!at)
        return (struct cn_hook_cost){0};
    at += strlen(before);
    return take(&at, between, &cost.call_ps) && take(&at, after, &cost.inner_ps) &&
                   cost.inner_ps <= cost.call_ps
               ? cost
               : (struct cn_hook_cost){0};
}
