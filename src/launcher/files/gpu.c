#include "launcher/files/gpu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "base/host/library.h"
#include "formats/gpu/records.h"
#include "gpu/shared.h"
#include "model/contexts/context.h"
#include "model/gpu/work.h"

bool cn_gpu_file_create(const char *dir, bool has_work, bool begins_with_ranges,
                        struct cn_error *err)
{
    struct cn_gpu_file_head head = {
        .magic = CN_GPU_FILE_MAGIC,
        .version = CN_GPU_FILE_VERSION,
        .block_len = CN_GPU_BLOCK_LEN,
        .blocks_off = CN_GPU_FILE_HEAD_LEN,
        .next_off = CN_GPU_FILE_HEAD_LEN,
        .limit_off = INT64_MAX,
        .flags = begins_with_ranges ? CN_GPU_BEGINS_WITH_RANGES : 0,
    };
    uint8_t bytes[CN_GPU_FILE_HEAD_LEN] = {0};
    char *library = NULL;

    if (!cn_own_library_find(CN_GPU_LIBRARY, &library, err))
        return false;
    (void)cn_gpu_file_head_encode(&head, bytes);
    bool ok =
        cn_out_replace(dir, CN_GPU_FILE_NAME, (const char *)bytes, sizeof(bytes), err);
    char *path = cn_strprintf("%s/" CN_GPU_FILE_NAME, dir);
    char *whole = ok ? realpath(path, NULL) : NULL;
    if (ok && !whole)
        ok = cn_fail_errno(err, "%s", path);
    if (ok &&
        ((has_work && setenv(CN_GPU_INJECT_ENV, library, 1) != 0) ||
         setenv(CN_GPU_NVTX_ENV, library, 0) != 0 || setenv(CN_GPU_ENV, whole, 1) != 0))
        ok = cn_fail_errno(err, "cannot change the environment");
    free(whole);
    free(path);
    free(library);
    return ok;
}

/* All threads are one: only operations are counted. */
static bool any_thread(void *arg, uint32_t pid, uint32_t tid, uint32_t *out,
                       struct cn_error *err)
{
    (void)arg;
    (void)pid;
    (void)tid;
    (void)err;
    *out = CN_NONE;
    return true;
}

static void add_note(void *arg, const char *text, uint64_t count)
{
    struct cn_text *notes = arg;

    if (count > 0)
        cn_text_printf(notes, "%" PRIu64 " ", count);
    cn_text_printf(notes, "%s\n", text);
}

bool cn_gpu_file_count(const char *dir, struct cn_gpu_file_counts *out,
                       struct cn_error *err)
{
    struct cn_gpu_records_to to = {.thread = any_thread};
    struct cn_file file = {0};
    struct cn_error ignored = {0};

    *out = (struct cn_gpu_file_counts){0};
    if (!cn_file_open_at(&file, dir, CN_GPU_FILE_NAME, err))
        return false;
    if (file.bytes.len > CN_GPU_FILE_HEAD_LEN) {
        struct cn_gpu_records *records = cn_gpu_records_new(&to);

        /* Views say what is damaged. */
        if (!cn_gpu_records_take_file(records, file.bytes, &ignored))
            cn_text_printf(&out->notes, CN_GPU_FILE_NAME ": %s\n", ignored.text);
        struct cn_gpu_work *work = cn_gpu_records_finish(records);
        out->is_used = cn_gpu_records_has_work(records);
        out->op_count = work ? work->op_count : 0;
        out->range_count = cn_gpu_records_range_count(records);
        cn_gpu_work_free(work);
        cn_gpu_records_notes(records, add_note, &out->notes);
        cn_gpu_records_free(records);
    } else {
        char *path = cn_strprintf("%s/" CN_GPU_FILE_NAME, dir);

        (void)unlink(path);
        free(path);
    }
    cn_file_close(&file);
    return true;
}
