#include "store/pipeline/ingest_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/exchange/read/traces/span_set.h"
#include "formats/zorka/body.h"

bool cn_ingest_input_open(struct cn_ingest_input *input, const char *path,
                          struct cn_error *err)
{
    struct cn_ingest_input opened = {0};

    if (!cn_file_open(&opened.file, path, err))
        return false;
    opened.path = cn_strdup(path);
    opened.rest = opened.file.bytes;
    opened.has_heads = cn_zorka_request_probe(opened.rest);
    opened.is_spans = !opened.has_heads && !cn_zorka_body_probe(opened.rest) &&
                      cn_span_set_probe(opened.rest) != CN_SPANS_NONE;
    *input = opened;
    return true;
}

void cn_ingest_input_close(struct cn_ingest_input *input)
{
    cn_file_close(&input->file);
    free(input->path);
    *input = (struct cn_ingest_input){0};
}

bool cn_ingest_fail_in(const struct cn_ingest_input *input,
                       const struct cn_ingest_item *item, struct cn_error *err)
{
    if (input->has_heads)
        (void)cn_fail_in(err, "request at %zu", item->off);
    return cn_fail_in(err, "%s", input->path);
}

/* Read NAME.hdr, if there is one for NAME.bin. */
static void read_head_file(const char *path, struct cn_zorka_request *request)
{
    size_t len = strlen(path);
    struct cn_text name = {0};
    struct cn_file file = {0};
    struct cn_error ignored;
    uint64_t content_len;

    if (len < 4 || strcmp(path + len - 4, ".bin") != 0)
        return;
    cn_text_add(&name, path, len - 4);
    cn_text_str_add(&name, ".hdr");
    if (cn_file_open(&file, cn_text_str(&name), &ignored))
        cn_zorka_request_head(file.bytes, request, &content_len);
    cn_file_close(&file);
    cn_text_done(&name);
}

/* The whole file is one body. */
static enum cn_step take_body(struct cn_ingest_input *input, struct cn_ingest_item *item)
{
    if (input->is_taken)
        return CN_END;
    *item = (struct cn_ingest_item){.is_spans = input->is_spans};
    if (!input->is_spans)
        read_head_file(input->path, &item->request);
    item->request.body = input->rest;
    input->is_taken = true;
    return CN_ITEM;
}

enum cn_step cn_ingest_input_next(struct cn_ingest_input *input,
                                  struct cn_ingest_item *item, struct cn_error *err)
{
    enum cn_step step;

    if (!input->has_heads)
        return take_body(input, item);
    do {
        *item = (struct cn_ingest_item){.off = input->file.bytes.len - input->rest.len};
        step = cn_zorka_request_next(&input->rest, &item->request, err);
    } while (step == CN_ITEM && !item->request.is_agent);
    if (step == CN_FAIL)
        (void)cn_ingest_fail_in(input, item, err);
    return step;
}
