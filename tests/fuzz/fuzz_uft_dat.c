/* Any bytes as the records of a task, in a recording that is otherwise fine. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "formats/uftrace/directory/directory.h"
#include "model/calls/values.h"
#include "open/open.h"
#include "support/fuzz.h"
#include "support/sample_recording.h"
#include "support/scratch.h"

/* Opened once; the bytes of its file are exchanged for each input. */
static struct cn_recording *sample;

static void open_sample(void)
{
    struct cn_scratch *scratch = cn_scratch_enter();
    struct cn_error err = {0};

    if (!cn_sample_recording_write("sample", &err) ||
        !cn_open_recording("sample", NULL, &sample, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        abort();
    }
    cn_scratch_leave(scratch);
}

static struct cn_uft_records *main_records(void)
{
    return &cn_uft_directory_of(sample)->records[0];
}

static void read_stream(struct cn_call_stream *stream, size_t len, struct cn_text *text)
{
    struct cn_call_batch batch;
    struct cn_error err = {0};
    size_t count = 0;
    enum cn_step step;

    while ((step = cn_call_stream_next(stream, &batch, &err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++, count++) {
            cn_text_clear(text);
            assert(batch.calls[i].function == CN_NONE ||
                   batch.calls[i].function < sample->function_count);
            if (batch.calls[i].kind <= CN_CALL_EXIT)
                cn_recording_print_arguments(sample, 0, &batch, &batch.calls[i], text);
            else
                (void)cn_recording_print_event(sample, &batch, &batch.calls[i], false,
                                               text);
        }
    assert(count <= len / 16 + 16);
    assert(step == CN_END || err.text[0] != '\0');
    cn_call_stream_close(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_content before;
    struct cn_call_stream *stream;
    struct cn_error err = {0};
    struct cn_text text = {0};

    if (!sample)
        open_sample();
    before = main_records()->content;
    main_records()->is_mapped = false; /* what follows are not pages of a file */
    main_records()->content = cn_content_of((struct cn_bytes){data, len});
    if (cn_recording_stream_open(sample, 0, cn_time_always, &stream, &err))
        read_stream(stream, len, &text);
    if (cn_recording_source_open(sample, 0, &stream, &err))
        read_stream(stream, len, &text);
    if (cn_recording_stream_open(
            sample, 0, (struct cn_time_range){1000000050, 1000002000}, &stream, &err))
        read_stream(stream, len, &text);
    main_records()->content = before;
    cn_text_done(&text);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_bytes file;

    if (!sample)
        open_sample();
    file = cn_content_bytes(main_records()->content);
    emit(file.ptr, file.len);
    emit(file.ptr, file.len / 2);
}
