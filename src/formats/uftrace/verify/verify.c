#include "formats/uftrace/verify/verify.h"

#include "formats/gpu/format.h"
#include "formats/gpu/records.h"
#include "formats/memory/reader.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/directory/open.h"

enum { REPORTED_MAX = 8 }; /* of one rule in one file */

static bool no_thread(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                      struct cn_error *err)
{
    (void)arg;
    (void)pid;
    (void)tid;
    (void)err;
    *out = CN_NONE;
    return true;
}

static void check_gpu(struct cn_uft_checking *c)
{
    struct cn_gpu_records_to to = {.thread = no_thread};
    struct cn_error problem = {0};
    struct cn_bytes file;

    if (!cn_uft_directory_find(c->dir, CN_GPU_FILE_NAME, &file))
        return;
    struct cn_gpu_records *records = cn_gpu_records_new(&to);
    cn_findings_begin(&c->f, CN_GPU_FILE_NAME);
    if (!cn_gpu_records_take_file(records, file, &problem))
        cn_findings_error(&c->f, "gpu-records", 0, "%s", problem.text);
    cn_gpu_records_free(records);
}

static void check_heap(struct cn_uft_checking *c)
{
    for (size_t i = 0; i < c->dir->task_count; i++) {
        struct cn_heap_event event;
        struct cn_error problem = {0};
        struct cn_heap_log log;
        enum cn_step step = CN_ITEM;

        if (!cn_uft_heap_begin(c->dir, c->dir->tasks[i].tid, &log))
            continue;
        cn_findings_begin(&c->f, log.name);
        while (step == CN_ITEM)
            step = cn_memory_log_next(&log, &event, &problem);
        if (step == CN_FAIL)
            cn_findings_error(&c->f, "memory-records", log.off, "%s", problem.text);
    }
}

bool cn_uft_verify(const char *path, const struct cn_progress *progress,
                   cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_uft_checking c = {.f = {.report = report,
                                      .arg = arg,
                                      .error_max = REPORTED_MAX,
                                      .warning_max = REPORTED_MAX,
                                      .file = "info"}};
    struct cn_recording *rec;
    struct cn_error problem = {0};

    if (!cn_uft_open(&rec, path, NULL, &problem)) {
        if (problem.kind != CN_ERR_FORMAT && problem.kind != CN_ERR_VERSION) {
            *err = problem;
            return false;
        }
        cn_findings_error(&c.f, "info-header", 0, "%s", problem.text);
        return true;
    }
    c.dir = cn_uft_directory_of(rec);
    cn_uft_check_texts(&c);
    check_gpu(&c);
    check_heap(&c);
    bool ok = cn_uft_check_records(&c, progress, err);
    cn_findings_begin(&c.f, NULL);
    cn_recording_close(rec);
    return ok;
}
