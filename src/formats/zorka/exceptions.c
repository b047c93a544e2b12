/* Exceptions on the wire become words: class, message, stack, cause. */

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/zorka/reader.h"

/* [class, method, file, line] */
static bool read_frame(struct cn_zorka_reader *reader, uint32_t *word,
                       struct cn_error *err)
{
    uint32_t parts[4] = {0};
    uint64_t count;
    int64_t line;

    if (!cn_zorka_read_array(reader, 4, 4, &count, err) ||
        !cn_zorka_read_string(reader, CN_WORD_CLASS, &parts[0], err) ||
        !cn_zorka_read_string(reader, CN_WORD_METHOD_NAME, &parts[1], err) ||
        !cn_zorka_read_string(reader, CN_WORD_TEXT, &parts[2], err))
        return false;
    if (!cn_cbor_int(&reader->in, &line))
        return cn_cbor_fail(&reader->in, "a line number", err);
    if (line < INT32_MIN || line > INT32_MAX)
        line = -1;
    parts[3] = (uint32_t)(int32_t)line;
    *word = cn_words_add_parts(reader->words, CN_WORD_FRAME, parts, 4);
    return true;
}

static bool read_stack(struct cn_zorka_reader *reader, uint32_t *word,
                       struct cn_error *err)
{
    uint32_t *frames;
    uint64_t count;
    bool ok = true;

    *word = 0;
    if (cn_cbor_byte(&reader->in, CN_ZORKA_NULL))
        return true;
    if (!cn_zorka_read_array(reader, 0, CN_ZORKA_STACK_MAX, &count, err))
        return false;
    if (count == 0)
        return true;
    frames = cn_alloc((size_t)count, sizeof(*frames));
    for (uint64_t i = 0; ok && i < count; i++)
        ok = read_frame(reader, &frames[i], err) ||
             cn_fail_in(err, "frame %llu of a stack", (unsigned long long)i);
    if (ok)
        *word = cn_words_add_parts(reader->words, CN_WORD_STACK, frames, (size_t)count);
    free(frames);
    return ok;
}

bool cn_zorka_read_exception(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint32_t parts[4] = {0}, word;
    uint64_t count, id;
    int64_t cause;

    if (!reader->words)
        return cn_fail(
            err, CN_ERR_FORMAT,
            "offset %zu: expected a reference to an exception, found an exception",
            reader->in.off);
    if (!cn_zorka_read_array(reader, 5, 6, &count, err))
        return false;
    if (!cn_cbor_uint(&reader->in, &id))
        return cn_cbor_fail(&reader->in, "the id of an exception", err);
    if (!cn_zorka_read_string(reader, CN_WORD_CLASS, &parts[0], err) ||
        !cn_zorka_read_string(reader, CN_WORD_TEXT, &parts[1], err))
        return false;
    if (!cn_cbor_int(&reader->in, &cause))
        return cn_cbor_fail(&reader->in, "the cause of an exception", err);
    if (!read_stack(reader, &parts[2], err))
        return false;
    parts[3] = cn_map_find(&reader->exceptions, (uint64_t)cause, 0);
    word = cn_words_add_parts(reader->words, CN_WORD_EXCEPTION, parts, 4);
    *cn_map_at(&reader->exceptions, id, word) = word;
    cn_trace_throw(reader->trace, word);
    return count == 5 || cn_zorka_read_attributes(reader, err);
}

bool cn_zorka_read_exception_ref(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint64_t id;

    if (!cn_cbor_uint(&reader->in, &id))
        return cn_cbor_fail(&reader->in, "the id of an exception", err);
    uint32_t word = reader->session    ? cn_map_find(&reader->exceptions, id, 0)
                    : id <= UINT32_MAX ? (uint32_t)id
                                       : 0;
    if (word == 0)
        return cn_zorka_unknown(reader, "exception", id, err);
    cn_trace_throw(reader->trace, word);
    return true;
}
