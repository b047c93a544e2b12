/* Which files and peers are read and written. */
#include <stdlib.h>
#include <string.h>

#include "analyze/io/sums.h"
#include "analyze/timeline/structure.h"
#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/database.h"
#include "model/io/system_calls.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/served/served.h"

enum { ROW_MAX = 1000 };

/* A range of time, the threads whose calls are added up, what rows differ in, and of what they are. */
struct io_question {
    const struct cn_io_calls *calls;
    bool *is_chosen; /* by profile */
    uint64_t origin_ns, begin_ns, end_ns;
    unsigned parts;
    enum cn_io_class class;
};

static bool choose_parts(const struct cn_request *request, unsigned *out,
                         struct cn_error *err)
{
    static const char *const names[] = {"file", "call", "function"};
    static const unsigned parts[] = {CN_IO_BY_TARGET, CN_IO_BY_CALL, CN_IO_BY_SITE};
    const char *by = cn_request_value(request, "by");

    *out = CN_IO_BY_TARGET | CN_IO_BY_CALL | CN_IO_BY_SITE;
    if (!by)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(by, names[i]) == 0) {
            *out = parts[i];
            return true;
        }
    return cn_fail(err, CN_ERR_USAGE, "by: '%s' is not file, call or function", by);
}

static bool choose_class(const struct cn_request *request, enum cn_io_class *out,
                         struct cn_error *err)
{
    static const char *const names[CN_IO_CLASS_COUNT] = {"calls", "disks", "faults"};
    const char *of = cn_request_value(request, "of");

    *out = CN_IO_SYSTEM_CALLS;
    for (unsigned i = 0; of && i < CN_IO_CLASS_COUNT; i++)
        if (strcmp(of, names[i]) == 0) {
            *out = (enum cn_io_class)i;
            return true;
        }
    return !of ||
           cn_fail(err, CN_ERR_USAGE, "of: '%s' is not calls, disks or faults", of);
}

/* On failure nothing is left to release. */
static bool ask(struct cn_served *served, struct cn_request *request,
                struct io_question *q, struct cn_error *err)
{
    struct cn_structure *structure = &served->structure;
    struct cn_time_question time;

    *q = (struct io_question){0};
    if (!choose_parts(request, &q->parts, err) ||
        !choose_class(request, &q->class, err) || !cn_served_ready(served, err))
        return false;
    if (!served->db->io)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s has no system calls", served->name);
    if (!cn_structure_wait(structure, CN_STRUCTURE_FRAMES, err) ||
        !cn_structure_wait(structure, CN_STRUCTURE_CODES, err) ||
        !cn_request_time(request, served, false, &time, err))
        return false;
    q->calls = served->db->io;
    q->origin_ns = time.origin_ns;
    /* Calls may begin before the first sample and after the last one, and in threads without samples. */
    q->begin_ns = cn_request_value(request, "begin") ? time.begin_ns : 0;
    q->end_ns = cn_request_value(request, "end") ? time.end_ns : UINT64_MAX;
    q->is_chosen = cn_alloc(served->db->profile_count, sizeof(*q->is_chosen));
    for (uint32_t i = 0; i < served->db->profile_count; i++)
        q->is_chosen[i] = !cn_request_value(request, "thread");
    for (size_t i = 0; i < time.threads.count; i++)
        q->is_chosen[time.threads.profiles[i]] = true;
    cn_thread_list_done(&time.threads);
    return true;
}

static void add_calls(struct cn_io_sums *sums, const struct io_question *q)
{
    for (size_t i = 0; i < q->calls->count; i++) {
        const struct cn_io_call *call = &q->calls->list[i];

        if (q->is_chosen[call->profile] && call->begin_ns >= q->begin_ns &&
            call->begin_ns < q->end_ns)
            cn_io_sums_add(sums, call);
    }
    cn_io_sums_finish(sums);
}

static void add_row(struct cn_json *json, const struct io_question *q,
                    const struct cn_io_sums *sums, const struct cn_io_row *row)
{
    struct cn_text text = {0};

    cn_json_object(json);
    cn_json_add_u64(json, "time", row->time_ns);
    cn_json_add_u64(json, "count", row->count);
    cn_json_add_u64(json, "failed", row->failed_count);
    cn_json_add_u64(json, "unended", row->unended_count);
    cn_json_add_u64(json, "longest", row->longest_ns);
    cn_json_add_u64(json, "longestAt",
                    row->longest_at_ns > q->origin_ns ? row->longest_at_ns - q->origin_ns
                                                      : 0);
    cn_json_add_u64(json, "read", row->read);
    cn_json_add_u64(json, "written", row->written);
    cn_json_add_u64(json, "major", row->major_count);
    if (row->call != CN_SYSTEM_CALL_NONE)
        cn_json_add_str(json, "call", cn_system_call(row->call)->name);
    if (row->target < sums->calls->target_count)
        cn_json_add_str(json, "file", sums->calls->targets[row->target]);
    if (cn_wait_site_is_known(row->site)) {
        cn_wait_site_print(sums->sites, row->site, &text);
        cn_json_add_str(json, "in", cn_text_str(&text));
    }
    cn_json_end(json);
    cn_text_done(&text);
}

bool cn_api_io(struct cn_served *served, struct cn_request *request, struct cn_error *err)
{
    const struct cn_structure *structure = &served->structure;
    struct cn_json *json = &request->json;
    struct cn_wait_sites sites;
    struct cn_io_sums sums;
    struct io_question q;
    uint64_t limit;

    if (!cn_request_u64(request, "limit", 1, ROW_MAX, 8, &limit, err) ||
        !ask(served, request, &q, err))
        return false;
    cn_wait_sites_init(&sites, &structure->frames, structure->codes);
    cn_io_sums_init(&sums, q.calls, &sites, q.parts, q.class);
    add_calls(&sums, &q);
    cn_json_add_u64(json, "time", sums.all.time_ns);
    cn_json_add_u64(json, "calls", sums.all.count);
    cn_json_add_u64(json, "failed", sums.all.failed_count);
    cn_json_add_u64(json, "unended", sums.all.unended_count);
    cn_json_add_u64(json, "read", sums.all.read);
    cn_json_add_u64(json, "written", sums.all.written);
    cn_json_add_u64(json, "major", sums.all.major_count);
    cn_json_add_u64(json, "samples", sums.sample_count);
    cn_json_add_u64(json, "files", sums.target_count);
    cn_json_add_u64(json, "count", sums.count);
    cn_json_add_array(json, "rows");
    for (size_t i = 0; i < sums.count && i < limit; i++)
        add_row(json, &q, &sums, &sums.list[i]);
    cn_json_end(json);
    cn_io_sums_done(&sums);
    cn_wait_sites_done(&sites);
    free(q.is_chosen);
    return true;
}
