#include "wasm/engine.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/compress.h"
#include "base/files/content.h"
#include "base/run/job.h"
#include "base/text.h"
#include "server/api/request.h"
#include "server/api/route.h"
#include "server/served/diffs.h"
#include "server/served/served.h"

/* The state of a page. */
static struct cn_served_list sources;
static struct cn_served_diffs diffs;
static struct cn_text answer;

char *cn_engine_alloc(size_t len)
{
    return cn_alloc(len, 1);
}

static void progress(const struct cn_job_step *step)
{
    cn_engine_progress(step->what, (double)step->done, (double)step->total, step->unit);
}

void cn_engine_read_by_range(size_t page_len, size_t cached_len)
{
    cn_jobs_watch(progress);
    cn_ranges_begin(page_len, cached_len);
}

static bool fail(const struct cn_error *err)
{
    cn_text_clear(&answer);
    cn_route_error(&answer, err);
    return false;
}

bool cn_engine_open(char *path, char *format, char *folder, bool is_raw)
{
    struct cn_open_options options = {
        .is_raw = is_raw, .format = format, .folder = folder};
    struct cn_error err = {0};
    struct cn_served *served;
    bool ok = cn_served_open(&served, path, &options, true, &err);

    free(path);
    free(format);
    free(folder);
    if (!ok)
        return fail(&err);
    if (!sources.diffs) {
        cn_served_diffs_init(&diffs);
        sources.diffs = &diffs;
    }
    sources.list =
        cn_realloc(sources.list, sources.count + 1, sizeof(struct cn_served *));
    sources.list[sources.count++] = served;
    return true;
}

bool cn_engine_ask(char *address)
{
    struct cn_request *request = cn_alloc(1, sizeof(*request));
    struct cn_error err = {0};
    bool ok;

    cn_text_clear(&answer);
    request->json.text = &answer;
    cn_request_parse(request, address);
    ok = cn_route_api(&sources, request, &err);
    free(request);
    free(address);
    return ok || fail(&err);
}

bool cn_engine_inflate(char *packed, size_t packed_len, size_t len)
{
    struct cn_decompressor *decompressor = cn_decompressor_new();
    struct cn_bytes in = {(const uint8_t *)packed, packed_len};
    struct cn_error ignored;
    bool ok;

    cn_text_clear(&answer);
    ok = cn_decompress(decompressor, CN_COMPRESSION_DEFLATE, in,
                       (uint8_t *)cn_text_room(&answer, len), len, &ignored);
    if (ok)
        cn_text_advance(&answer, len);
    cn_decompressor_free(decompressor);
    free(packed);
    return ok;
}

const char *cn_engine_answer(void)
{
    return cn_text_str(&answer);
}

size_t cn_engine_answer_len(void)
{
    return answer.len;
}
