#include "store/sampling/decisions.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/files/disk.h"
#include "base/files/file.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "store/segment/config.h"
#include "store/segment/scan.h"

#define NAME_BEGIN "sampled."
enum { NUMBER_LEN = 6, ID_LEN = 32 };

static const uint64_t late_ns = UINT64_C(900) * 1000000000;

/* The key of a trace in the map, or of the free slot for it. */
static uint64_t key_of(const struct cn_decisions *decisions, uint64_t high, uint64_t low,
                       uint32_t *found)
{
    uint64_t key = cn_span_key(high, low, 0, 0);

    while ((*found = cn_map_find(&decisions->by_trace, key, UINT32_MAX)) != UINT32_MAX) {
        const struct cn_decision *decision = &decisions->list[*found];

        if (decision->trace_high == high && decision->trace_low == low)
            break;
        key++;
    }
    return key;
}

const struct cn_decision *cn_decisions_find(const struct cn_decisions *decisions,
                                            uint64_t trace_high, uint64_t trace_low)
{
    uint32_t found;

    (void)key_of(decisions, trace_high, trace_low, &found);
    return found == UINT32_MAX ? NULL : &decisions->list[found];
}

struct cn_decision *cn_decisions_at(struct cn_decisions *decisions, uint64_t trace_high,
                                    uint64_t trace_low)
{
    uint32_t found;
    uint64_t key = key_of(decisions, trace_high, trace_low, &found);

    if (found != UINT32_MAX)
        return &decisions->list[found];
    *cn_map_at(&decisions->by_trace, key, 0) = (uint32_t)decisions->count;
    CN_PUSH(decisions->list, decisions->count, decisions->capacity,
            ((struct cn_decision){.trace_high = trace_high,
                                  .trace_low = trace_low,
                                  .rule = CN_DECISION_NONE,
                                  .is_new = true}));
    return &decisions->list[decisions->count - 1];
}

static uint64_t read_half(const char *digits)
{
    char text[ID_LEN / 2 + 1] = "";

    memcpy(text, digits, ID_LEN / 2);
    return strtoull(text, NULL, 16);
}

/* "0123456789abcdef0123456789abcdef 50000\n", the rate in millionths. */
static bool read_line(struct cn_decision *out, const char **at)
{
    const char *line = *at;
    char *end;

    if (strnlen(line, ID_LEN + 2) < ID_LEN + 2 || !cn_hex_begins(line, ID_LEN) ||
        line[ID_LEN] != ' ' || !isdigit((unsigned char)line[ID_LEN + 1]))
        return false;
    unsigned long rate = strtoul(line + ID_LEN + 1, &end, 10);
    if (*end != '\n' || rate > CN_RATE_ALL)
        return false;
    out->trace_high = read_half(line);
    out->trace_low = read_half(line + ID_LEN / 2);
    out->rate = (uint32_t)rate;
    *at = end + 1;
    return true;
}

/* The number of lines, then the lines. */
static bool read_text(struct cn_decisions *decisions, const char *at, uint32_t number,
                      size_t *line)
{
    char *end;
    unsigned long long count = strtoull(at, &end, 10);
    bool ok = isdigit((unsigned char)*at) && *end == '\n';

    at = end + ok;
    for (*line = 1; ok && *line <= count; ++*line) {
        struct cn_decision of = {.number = number};

        if (!read_line(&of, &at))
            return false;
        struct cn_decision *known =
            cn_decisions_at(decisions, of.trace_high, of.trace_low);
        if (known->is_new)
            *known = of;
    }
    return ok && *at == '\0';
}

static bool read_file(struct cn_decisions *decisions, const char *path, uint32_t number,
                      struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_file file = {0};
    size_t line = 0;

    if (!cn_file_open(&file, path, err))
        return false;
    cn_text_add(&text, (const char *)file.bytes.ptr, file.bytes.len);
    cn_file_close(&file);
    bool ok = read_text(decisions, cn_text_str(&text), number, &line);
    cn_text_done(&text);
    return ok || cn_fail(err, CN_ERR_FORMAT,
                         "%s: line %zu is damaged; remove the file to sample again", path,
                         line + 1);
}

static bool parse_name(const char *name, uint32_t *number)
{
    size_t len = strlen(NAME_BEGIN);

    if (strncmp(name, NAME_BEGIN, len) != 0 || strlen(name) != len + NUMBER_LEN ||
        !cn_hex_begins(name + len, NUMBER_LEN))
        return false;
    *number = (uint32_t)strtoul(name + len, NULL, 16);
    return true;
}

static uint64_t written_ns(const char *path)
{
    struct stat st;

    return stat(path, &st) < 0
               ? 0
               : (uint64_t)st.st_mtim.tv_sec * 1000000000U + (uint64_t)st.st_mtim.tv_nsec;
}

typedef bool (*visit_file)(void *arg, const char *path, uint32_t number,
                           struct cn_error *err);

static bool each_file(const char *base, visit_file visit, void *arg, struct cn_error *err)
{
    DIR *dir = opendir(base);
    const struct dirent *entry;
    bool ok = true;

    if (!dir)
        return cn_fail_errno(err, "%s", base);
    while (ok && (entry = readdir(dir))) {
        uint32_t number;

        if (!parse_name(entry->d_name, &number))
            continue;
        char *path = cn_strprintf("%s/%s", base, entry->d_name);
        ok = visit(arg, path, number, err);
        free(path);
    }
    (void)closedir(dir);
    return ok;
}

static bool open_file(void *arg, const char *path, uint32_t number, struct cn_error *err)
{
    struct cn_decisions *decisions = arg;
    uint64_t ns = written_ns(path);

    if (decisions->oldest_ns == 0 || ns < decisions->oldest_ns)
        decisions->oldest_ns = ns;
    return read_file(decisions, path, number, err);
}

bool cn_decisions_open(struct cn_decisions *decisions, const char *base,
                       struct cn_error *err)
{
    *decisions = (struct cn_decisions){0};
    if (each_file(base, open_file, decisions, err))
        return true;
    cn_decisions_done(decisions);
    return false;
}

void cn_decisions_done(struct cn_decisions *decisions)
{
    free(decisions->list);
    cn_map_done(&decisions->by_trace);
    *decisions = (struct cn_decisions){0};
}

static bool remove_old(void *arg, const char *path, uint32_t number, struct cn_error *err)
{
    uint64_t now_ns = *(const uint64_t *)arg;

    (void)number;
    return written_ns(path) + late_ns > now_ns || unlink(path) == 0 || errno == ENOENT ||
           cn_fail_errno(err, "%s", path);
}

/* They are read again from what is left. */
bool cn_decisions_forget(struct cn_decisions *decisions, const char *base,
                         struct cn_error *err)
{
    uint64_t now_ns = cn_clock_date_ns();

    if (decisions->oldest_ns == 0 || decisions->oldest_ns + 2 * late_ns > now_ns)
        return true;
    if (!each_file(base, remove_old, &now_ns, err))
        return false;
    cn_decisions_done(decisions);
    return cn_decisions_open(decisions, base, err);
}

bool cn_decisions_save(struct cn_decisions *decisions, const char *base, uint32_t number,
                       struct cn_error *err)
{
    char name[sizeof(NAME_BEGIN) + NUMBER_LEN];
    struct cn_text text = {0};
    size_t count = 0;

    for (size_t i = 0; i < decisions->count; i++)
        count += decisions->list[i].number == number;
    cn_text_printf(&text, "%zu\n", count);
    for (size_t i = 0; i < decisions->count; i++) {
        struct cn_decision *of = &decisions->list[i];

        if (of->number == number)
            cn_text_printf(&text, "%016" PRIx64 "%016" PRIx64 " %" PRIu32 "\n",
                           of->trace_high, of->trace_low, of->rate);
    }
    (void)snprintf(name, sizeof(name), NAME_BEGIN "%06" PRIx32, number & 0xffffff);
    bool ok =
        cn_disk_replace(&cn_disk_files, base, name, cn_text_str(&text), text.len, err);
    for (size_t i = 0; ok && i < decisions->count; i++)
        decisions->list[i].is_new &= decisions->list[i].number != number;
    if (ok && decisions->oldest_ns == 0)
        decisions->oldest_ns = cn_clock_date_ns();
    cn_text_done(&text);
    return ok;
}
