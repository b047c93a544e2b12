/* Rules of the records: magic, size, order of time, nesting, addresses. */

#include <inttypes.h>
#include <string.h>

#include "base/run/progress.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/records/perf_reader.h"
#include "formats/uftrace/verify/verify.h"

/* Where a task stands. */
struct nesting {
    uint64_t last_ns;
    uint32_t depth; /* the next entry has this one */
    bool is_known;  /* false at the start and after a loss */
};

static bool is_mapped(const struct cn_uft_directory *dir, uint32_t task,
                      const struct cn_call *call)
{
    const struct cn_session *session =
        cn_recording_session_at(&dir->rec, task, call->time_ns);

    for (size_t i = 0; session && i < session->mapping_count; i++)
        if (call->address >= session->mappings[i].begin &&
            call->address < session->mappings[i].end)
            return true;
    return false;
}

/* longjmp, exec and the child of a fork change the depth without a record, so this
 * is only a warning. */
static void check_depth(struct cn_uft_checking *c, struct nesting *n, uint64_t off,
                        const struct cn_call *call)
{
    uint32_t expected = call->kind == CN_CALL_ENTER ? n->depth : n->depth - 1;

    if (n->is_known && call->depth != expected)
        cn_findings_warn(&c->f, "depth-nesting", off,
                         "%s at depth %u where %" PRId32 " is expected",
                         call->kind == CN_CALL_ENTER ? "an entry" : "an exit",
                         call->depth, (int32_t)expected);
    n->depth = call->kind == CN_CALL_ENTER ? call->depth + 1U : call->depth;
    n->is_known = true;
}

static void check_call(struct cn_uft_checking *c, uint32_t task, struct nesting *n,
                       uint64_t off, const struct cn_call *call)
{
    bool is_estimated = (c->dir->rec.features & CN_FEATURE_ESTIMATE_RETURN) != 0;

    if (call->kind == CN_CALL_LOST) {
        n->is_known = false;
        return;
    }
    if (call->time_ns < n->last_ns)
        cn_findings_add(&c->f, !is_estimated, "time-order", off,
                        "time runs backwards: %" PRIu64 " after %" PRIu64, call->time_ns,
                        n->last_ns);
    n->last_ns = call->time_ns;
    if (call->flags & CN_CALL_DATA_SKIPPED)
        cn_findings_warn(&c->f, "payload-known", off,
                         "nothing says which arguments follow address 0x%" PRIx64,
                         call->address);
    if (call->kind == CN_CALL_EVENT)
        return;
    check_depth(c, n, off, call);
    if (call->function == CN_NONE && !is_mapped(c->dir, task, call))
        cn_findings_warn(&c->f, "address-mapped", off,
                         "nothing is mapped at address 0x%" PRIx64, call->address);
}

static const char *rule_of(const char *text)
{
    return strstr(text, "magic")   ? "record-magic"
           : strstr(text, "stray") ? "record-size"
                                   : "payload-size";
}

static bool check_task(struct cn_uft_checking *c, uint32_t source, struct cn_error *err)
{
    const struct cn_source *s = &c->dir->sources[source];
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error damage = {0};
    struct nesting n = {0};
    uint64_t off = 0;
    enum cn_step step;

    if (!cn_recording_source_open(&c->dir->rec, source, &stream, err))
        return false;
    while ((step = cn_call_stream_next(stream, &batch, &damage)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            check_call(c, s->task, &n, off, &batch.calls[i]);
            off += batch.raw[i].len;
        }
    if (step == CN_FAIL)
        cn_findings_error(&c->f, rule_of(damage.text), off, "%s", damage.text);
    cn_call_stream_close(stream);
    return true;
}

static void check_perf(struct cn_uft_checking *c, struct cn_bytes file)
{
    struct cn_uft_perf_event event;
    struct cn_error damage = {0};
    uint64_t off = 0, at, last_ns = 0;
    enum cn_step step;

    while (at = off, (step = cn_uft_perf_next(file, c->dir->rec.is_big_endian, &off,
                                              &event, &damage)) == CN_ITEM) {
        if (event.id == 0)
            continue;
        if (event.time_ns < last_ns)
            cn_findings_warn(&c->f, "time-order", at,
                             "time runs backwards: %" PRIu64 " after %" PRIu64,
                             event.time_ns, last_ns);
        last_ns = event.time_ns;
    }
    if (step == CN_FAIL)
        cn_findings_error(&c->f, "perf-record", at, "%s", damage.text);
}

bool cn_uft_check_records(struct cn_uft_checking *c, const struct cn_progress *progress,
                          struct cn_error *err)
{
    const struct cn_uft_directory *dir = c->dir;
    size_t perf = 0;

    for (uint32_t i = 0; i < dir->source_count; i++) {
        if (!cn_progress_report(progress, "verifying records", i, dir->source_count,
                                "files", err))
            return false;
        cn_findings_begin(&c->f, dir->sources[i].name);
        if (dir->sources[i].kind == CN_SOURCE_TASK && !check_task(c, i, err))
            return false;
        if (dir->sources[i].kind == CN_SOURCE_PERF)
            check_perf(c, dir->perf_files[perf++]);
    }
    return true;
}
