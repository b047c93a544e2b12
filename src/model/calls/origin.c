#include "model/calls/origin.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/calls/recording.h"

/* "20.5 / 23.4 GB (free / total)": the second number. */
static uint64_t memory_of(const char *text)
{
    const char *slash = text ? strchr(text, '/') : NULL;
    char *unit;

    if (!slash)
        return 0;
    double number = strtod(slash + 1, &unit);
    unit += strspn(unit, " ");
    unsigned shift = *unit == 'T' ? 40 : *unit == 'G' ? 30 : *unit == 'M' ? 20 : 0;
    return number > 0 && number < 1e6
               ? (uint64_t)(number * (double)(UINT64_C(1) << shift))
               : 0;
}

/* "uftrace v0.19 ( aarch64 ...)": without what it was built with. */
static const char *writer_of(const char *version, struct cn_arena *arena)
{
    size_t len = version ? strcspn(version, "(") : 0;

    while (len > 0 && version[len - 1] == ' ')
        len--;
    if (len == 0)
        return NULL;
    char *text = cn_arena_copy(arena, version, len);
    return text[0] == 'v' ? cn_arena_printf(arena, "uftrace %s", text) : text;
}

static const char *after(const char *text, const char *start)
{
    return text && strncmp(text, start, strlen(start)) == 0 ? text + strlen(start) : text;
}

struct cn_origin cn_recording_origin(const struct cn_recording *rec,
                                     struct cn_arena *arena)
{
    const char *count = cn_recording_fact(rec, "cpuinfo:nr_cpus");

    return (struct cn_origin){
        .program = cn_recording_fact(rec, "exename"),
        .command = cn_recording_fact(rec, "cmdline"),
        .writer = writer_of(cn_recording_fact(rec, "uftrace_version"), arena),
        .host = cn_recording_fact(rec, "osinfo:hostname"),
        .kernel = after(cn_recording_fact(rec, "osinfo:kernel"), "Linux "),
        .processor = cn_recording_fact(rec, "cpuinfo:desc"),
        .processor_count = count ? strtoull(count, NULL, 10) : 0,
        .memory_bytes = memory_of(cn_recording_fact(rec, "meminfo")),
    };
}
