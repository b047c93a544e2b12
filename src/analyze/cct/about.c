#include "analyze/cct/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/recorder_cost.h"
#include "base/bytes/utf8.h"
#include "base/path.h"
#include "base/text.h"
#include "model/calls/origin.h"
#include "model/contexts/database.h"

enum { LISTED_MAX = 1000 }; /* threads */

static const char *program_of(const struct cn_recording *rec)
{
    const char *name = cn_recording_fact(rec, "exename");

    return cn_path_name(name ? name : rec->path);
}

static void list_threads(const struct cn_call_query *queries,
                         const struct cn_cct_members *members, struct cn_text *text)
{
    struct cn_kinds kinds = cn_cct_members_kinds(members);

    for (size_t i = 0; i < members->count && i < LISTED_MAX; i++) {
        const struct cn_cct_member *member = &members->list[i];
        const struct cn_recording *rec = queries[member->source].rec;
        const struct cn_task *task = &rec->tasks[member->task.options.task];

        cn_text_printf(text, "profile %zu: ", i + 1);
        cn_identity_print(&member->identity, &kinds, text);
        cn_text_printf(text, ": %s, task %" PRIu32 " of process %" PRIu32 " of %s\n",
                       task->name ? task->name : "?", task->tid, task->pid,
                       program_of(rec));
    }
    if (members->count > LISTED_MAX)
        cn_text_printf(text, "and %zu more\n", members->count - LISTED_MAX);
}

/* The largest cost of all recordings whose times are corrected. */
static struct cn_hook_cost find_cost(const struct cn_call_query *queries,
                                     const struct cn_cct_members *members)
{
    struct cn_hook_cost most = {0};

    for (size_t i = 0; i < members->count; i++) {
        const struct cn_call_query *query = &queries[members->list[i].source];
        struct cn_hook_cost cost = cn_recorder_cost_of(query->rec);

        if (!query->is_raw && cost.call_ps > most.call_ps)
            most = cost;
    }
    return most;
}

void cn_cct_describe(struct cn_database *db, const struct cn_call_query *queries,
                     const struct cn_cct_members *members, const char *title)
{
    struct cn_text text = {0};

    if (!title)
        title =
            members->count > 0 ? program_of(queries[members->list[0].source].rec) : "";
    cn_text_printf(&text, "Calls recorded function by function, analysed by cairn %s.\n",
                   CN_VERSION);
    cn_recorder_cost_print(&text, find_cost(queries, members));
    list_threads(queries, members, &text);
    db->title = cn_utf8_strdup(&db->arena, title);
    db->description = cn_utf8_strdup(&db->arena, cn_text_str(&text));
    if (members->count > 0) {
        struct cn_origin origin =
            cn_recording_origin(queries[members->list[0].source].rec, &db->arena);

        db->origin = cn_origin_copy(&origin, &db->arena);
    }
    cn_text_done(&text);
}

/* The offset from a date as ctime() prints it. Its time zone is unknown: UTC is assumed, so
 * that a recording gives the same database everywhere. */
static int64_t date_offset(const char *date, uint64_t last_ns)
{
    struct tm tm = {0};
    const char *end = strptime(date, "%a %b %d %H:%M:%S %Y", &tm);
    time_t seconds = end ? timegm(&tm) : 0;

    if (seconds <= 0 || seconds > INT64_MAX / 1000000000 ||
        last_ns > (uint64_t)seconds * 1000000000)
        return 0;
    return (int64_t)((uint64_t)seconds * 1000000000 - last_ns);
}

int64_t cn_cct_clock_offset(const struct cn_recording *rec, uint64_t last_ns)
{
    const char *offset = cn_recording_fact(rec, "utc_offset");
    const char *date = cn_recording_fact(rec, "record_date");
    char *end;

    if (offset) {
        long long seconds = strtoll(offset, &end, 10);

        /* A damaged record may have any time. */
        if (end != offset && seconds > 0 && seconds < INT64_MAX / 1000000000 &&
            last_ns <= UINT64_MAX - (uint64_t)seconds * 1000000000)
            return seconds * 1000000000;
    }
    return date ? date_offset(date, last_ns) : 0;
}
