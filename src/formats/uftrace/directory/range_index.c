#include "formats/uftrace/directory/stream.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/uftrace/directory/resolver.h"
#include "formats/uftrace/records/reader.h"
#include "formats/uftrace/summary/summary.h"

/* For measuring payloads. */
struct measuring {
    const struct cn_uft_directory *dir;
    struct cn_uft_resolver resolver;
};

static bool measure(void *arg, struct cn_uft_record record, struct cn_bytes rest,
                    size_t *len)
{
    struct measuring *m = arg;
    struct cn_uft_payload payload;
    uint32_t function = CN_NONE;

    if (cn_bits(record.word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS) <= CN_UFT_EXIT)
        function = cn_uft_resolve(&m->resolver, record.time_ns,
                                  record.word >> CN_UFT_ADDRESS_AT);
    if (!cn_uft_payload_measure(&m->dir->rec, record, function, rest, &payload))
        return false;
    *len = payload.all_len;
    return true;
}

/* The records of all tasks that have any. */
struct sources {
    struct cn_uft_summary_source *list;
    struct measuring *measuring;
    uint32_t count;
};

static void sources_init(struct sources *sources, const struct cn_uft_directory *dir)
{
    *sources = (struct sources){
        .list = cn_alloc(dir->task_count, sizeof(*sources->list)),
        .measuring = cn_alloc(dir->task_count, sizeof(*sources->measuring)),
    };
    for (uint32_t i = 0; i < dir->task_count; i++) {
        struct measuring *m = &sources->measuring[sources->count];

        if (!dir->records[i].name)
            continue;
        m->dir = dir;
        cn_uft_resolver_init(&m->resolver, dir, i);
        sources->list[sources->count++] = (struct cn_uft_summary_source){
            .tid = dir->tasks[i].tid,
            .mtime_ns = cn_uft_directory_mtime(dir, dir->records[i].name),
            .records = &dir->records[i],
            .measure = measure,
            .arg = m,
        };
    }
}

static void sources_done(struct sources *sources)
{
    free(sources->list);
    free(sources->measuring);
}

void cn_uft_ranges_open(struct cn_uft_directory *dir)
{
    struct sources sources;
    struct cn_error ignored = {0};

    sources_init(&sources, dir);
    if (!cn_uft_summary_open(&dir->summary, dir->rec.path, sources.list, sources.count,
                             &ignored))
        dir->summary = NULL;
    sources_done(&sources);
}

bool cn_uft_ranges_prepare(struct cn_recording *rec, unsigned workers,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_uft_directory *dir = (struct cn_uft_directory *)rec;
    struct sources sources;

    if (dir->summary)
        return true;
    sources_init(&sources, dir);
    bool ok = cn_uft_summary_get(&dir->summary, dir->rec.path, sources.list,
                                 sources.count, workers, progress, err);
    sources_done(&sources);
    return ok;
}

uint64_t cn_uft_ranges_find(const struct cn_uft_directory *dir, uint32_t task,
                            uint64_t time_ns)
{
    const struct cn_uft_summary *summary = dir->summary;
    uint32_t found, block;

    if (!summary || time_ns == 0)
        return cn_uft_records_find(&dir->records[task], time_ns);
    found = cn_uft_summary_find_task(summary, dir->tasks[task].tid);
    if (found == CN_NONE || summary->tasks[found].block_count == 0)
        return 0;
    block = cn_uft_summary_find(summary, found, time_ns);
    /* After the last record: begin with the last block. */
    if (block == CN_NONE)
        block = summary->tasks[found].first_block + summary->tasks[found].block_count - 1;
    return summary->blocks[block].stored_off;
}
