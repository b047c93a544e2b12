/* Reader of folded stacks: lines "main;solve;dot 1234". The last blank separates the stack
 * from the value. Lines that begin with # are comments; other lines are skipped. */

#include <inttypes.h>

#include "base/bytes/json_reader.h"
#include "formats/exchange/read/lines.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"

/* Split a line at its last blank; false if it is not a stack with a value. */
static bool split(struct cn_bytes line, struct cn_bytes *stack, double *value)
{
    const uint8_t *blank = line.len > 0 ? memrchr(line.ptr, ' ', line.len) : NULL;
    struct cn_bytes number;

    if (!blank || blank == line.ptr)
        return false;
    size_t len = (size_t)(blank - line.ptr);
    return cn_bytes_from(line, len + 1, &number) && cn_bytes_slice(line, 0, len, stack) &&
           cn_json_as_f64(number, value) && *value >= 0;
}

static uint32_t context_of(struct cn_import *import, struct cn_bytes stack)
{
    uint32_t context = 0;

    for (size_t depth = 0; depth < CN_IMPORT_DEPTH_MAX && stack.len > 0; depth++) {
        struct cn_bytes name;

        (void)cn_bytes_take_until(&stack, ';', &name);
        context = cn_import_call(
            import, context,
            cn_import_frame(import,
                            &(struct cn_import_frame){.name = cn_import_str(import, name),
                                                      .module = "",
                                                      .file = ""}));
    }
    return context;
}

bool cn_folded_read(struct cn_import *import, struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_bytes rest = bytes;
    uint32_t metric, thread;
    uint64_t number = 0, first_bad = 0, bad_count = 0, good_count = 0;

    if (!cn_import_metric(import, "samples", &metric, err) ||
        !cn_import_thread(import,
                          &(struct cn_import_identity){.kinds = {"THREAD"}, .name = ""},
                          &thread, err))
        return false;
    while (rest.len > 0) {
        struct cn_bytes line = cn_line_take(&rest), stack;
        double value;

        number++;
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        if (!split(line, &stack, &value)) {
            if (bad_count++ == 0)
                first_bad = number;
            continue;
        }
        good_count++;
        if (!cn_import_add(import, thread, context_of(import, stack), metric, value, err))
            return false;
    }
    if (bad_count > 0 && good_count == 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "line %" PRIu64 ": expected a stack and a value", first_bad);
    if (bad_count > 0)
        cn_import_warn(import, true,
                       "lines without a stack and a value are skipped: %" PRIu64
                       ", the first is line %" PRIu64,
                       bad_count, first_bad);
    return true;
}

/* JSON that is cut off after a number is not a stack and its value. */
static bool is_json(struct cn_bytes beginning)
{
    struct cn_json_reader json = cn_json_read(beginning);
    struct cn_json_token token;
    struct cn_error ignored;
    enum cn_json_kind kind = cn_json_next(&json, &token, &ignored);
    bool is_open = kind == CN_JSON_OBJECT || kind == CN_JSON_ARRAY;

    kind = is_open ? cn_json_next(&json, &token, &ignored) : CN_JSON_FAIL;
    cn_json_reader_done(&json);
    return kind != CN_JSON_FAIL && kind != CN_JSON_END;
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    struct cn_bytes rest = beginning;
    size_t count = 0, deep_count = 0, bad_count = 0;

    if (memchr(beginning.ptr, '\0', beginning.len) || is_json(beginning))
        return false;
    while (rest.len > 0) {
        struct cn_bytes line = cn_line_take(&rest), stack;
        double value;

        /* The last line may be cut off. */
        if (line.len == 0 || line.ptr[0] == '#' ||
            (rest.len == 0 && !is_whole && count > 0))
            continue;
        if (!split(line, &stack, &value)) {
            bad_count++;
            continue;
        }
        count++;
        deep_count += memchr(stack.ptr, ';', stack.len) != NULL;
    }
    return count > 0 && (bad_count == 0 || (deep_count > 0 && bad_count <= count));
}

bool cn_folded_probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}

bool cn_folded_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "folded stacks", cn_folded_read, err);
}
