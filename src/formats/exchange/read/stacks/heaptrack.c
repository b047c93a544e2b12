/* Reader of what heaptrack writes, formats 1 to 3, as described in its source: lines that begin with a
 * letter, numbers in hexadecimal. Strings, addresses and traces are numbered from 1 in the order of
 * the file, allocations from 0.
 *
 *     s LEN TEXT               a string; before format 3: s TEXT
 *     i ADDRESS MODULE [FUNCTION [FILE LINE]]...  the innermost function first
 *     t ADDRESS CALLER         a trace: an address, and the trace that called it
 *     a SIZE TRACE             a kind of allocation
 *     + ALLOCATION, - ALLOCATION
 *     c MILLISECONDS           the time of what follows
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/lines.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/heap.h"
#include "formats/exchange/read/stacks/import.h"

enum { VERSION_MAX = 3, FRAMES_MAX = 256, NS_PER_MS = 1000000 };

struct heaptrack_address {
    uint32_t first_frame, frame_count; /* in `frames`, the innermost first */
    uint32_t file, line;               /* of the innermost; 0: unknown */
};

struct heaptrack_trace {
    uint32_t context, depth; /* frames up to CN_IMPORT_DEPTH_MAX */
    uint32_t address;        /* + 1; 0: none */
};

struct heaptrack_kind {
    uint64_t size;
    uint32_t context;
};

struct heaptrack {
    struct cn_import *import;
    struct cn_heap_import heap;
    uint64_t version, time_ns;
    struct cn_bytes *strings;
    struct heaptrack_address *addresses;
    struct heaptrack_trace *traces;
    struct heaptrack_kind *kinds;
    uint32_t *frames;
    size_t string_count, address_count, trace_count, kind_count, frame_count;
    size_t string_capacity, address_capacity, trace_capacity, kind_capacity;
    size_t frame_capacity;
    uint64_t last_kind; /* + 1, of the allocation just before; 0: none */
    uint64_t other_count;
};

static void done(struct heaptrack *h)
{
    free(h->strings);
    free(h->addresses);
    free(h->traces);
    free(h->kinds);
    free(h->frames);
    cn_heap_import_done(&h->heap);
}

static bool take_hex(struct cn_bytes *rest, uint64_t *out)
{
    struct cn_bytes word = cn_word_take(rest);

    *out = 0;
    if (word.len == 0 || word.len > 16)
        return false;
    for (size_t i = 0; i < word.len; i++) {
        uint8_t c = word.ptr[i];
        unsigned digit = c >= '0' && c <= '9'   ? c - '0' + 0u
                         : c >= 'a' && c <= 'f' ? c - 'a' + 10u
                                                : 16;
        if (digit == 16)
            return false;
        *out = *out << 4 | digit;
    }
    return true;
}

static bool take_number(struct cn_bytes *rest, const char *what, uint64_t limit,
                        uint64_t *out, struct cn_error *err)
{
    if (!take_hex(rest, out))
        return cn_fail(err, CN_ERR_FORMAT, "no number of %s", what);
    if (*out > limit)
        return cn_fail(err, CN_ERR_FORMAT, "%s %" PRIu64 " of %" PRIu64, what, *out,
                       limit);
    return true;
}

static bool read_string(struct heaptrack *h, struct cn_bytes rest, struct cn_error *err)
{
    struct cn_bytes text = rest;
    uint64_t len;

    if (h->version >= 3 &&
        (!take_hex(&rest, &len) || !cn_bytes_from(rest, rest.len > 0, &rest) ||
         !cn_bytes_slice(rest, 0, len, &text)))
        return cn_fail(err, CN_ERR_FORMAT, "a string that is not as long as it says");
    CN_PUSH(h->strings, h->string_count, h->string_capacity, text);
    return true;
}

/* The caller frees it; "" is string 0. */
static char *copy_string(const struct heaptrack *h, uint64_t number)
{
    return number > 0 ? cn_word_copy(h->strings[number - 1]) : cn_strdup("");
}

/* Of a function: nothing at all if it is unknown. */
static bool take_location(const struct heaptrack *h, struct cn_bytes *rest,
                          uint64_t *file, uint64_t *line, struct cn_error *err)
{
    *file = *line = 0;
    return rest->len == 0 || (take_number(rest, "file", h->string_count, file, err) &&
                              take_number(rest, "line", INT32_MAX, line, err));
}

static bool read_address(struct heaptrack *h, struct cn_bytes rest, struct cn_error *err)
{
    struct heaptrack_address address = {.first_frame = (uint32_t)h->frame_count};
    uint64_t ip, module, function, file, line;
    struct cn_bytes more;

    if (!take_number(&rest, "address", UINT64_MAX, &ip, err) ||
        !take_number(&rest, "module", h->string_count, &module, err))
        return false;
    char *module_name = copy_string(h, module);
    bool ok = true;
    for (more = rest;
         ok && take_hex(&more, &function) && address.frame_count < FRAMES_MAX;
         more = rest) {
        ok = take_number(&rest, "function", h->string_count, &function, err) &&
             take_location(h, &rest, &file, &line, err);
        if (!ok)
            break;
        char *name = copy_string(h, function), *file_name = copy_string(h, file);
        struct cn_import_frame frame = {
            .name = name, .module = module_name, .file = file_name};
        struct cn_bytes after = rest;
        uint64_t ignored;

        frame.is_inlined = take_hex(&after, &ignored);
        CN_PUSH(h->frames, h->frame_count, h->frame_capacity,
                cn_import_frame(h->import, &frame));
        if (address.frame_count++ == 0) {
            address.file = (uint32_t)file;
            address.line = (uint32_t)line;
        }
        free(name);
        free(file_name);
    }
    if (ok && address.frame_count == 0) {
        char name[32];

        (void)snprintf(name, sizeof(name), "0x%" PRIx64, ip);
        CN_PUSH(h->frames, h->frame_count, h->frame_capacity,
                cn_import_frame(h->import,
                                &(struct cn_import_frame){
                                    .name = name, .module = module_name, .file = ""}));
        address.frame_count = 1;
    }
    free(module_name);
    if (ok)
        CN_PUSH(h->addresses, h->address_count, h->address_capacity, address);
    return ok;
}

static bool read_trace(struct heaptrack *h, struct cn_bytes rest, struct cn_error *err)
{
    uint64_t address, parent;
    struct heaptrack_trace trace = {0};

    if (!take_number(&rest, "address", h->address_count, &address, err) ||
        !take_number(&rest, "trace", h->trace_count, &parent, err))
        return false;
    if (parent > 0)
        trace = h->traces[parent - 1];
    const struct heaptrack_address *at = address > 0 ? &h->addresses[address - 1] : NULL;
    for (uint32_t i = at ? at->frame_count : 0;
         i-- > 0 && trace.depth < CN_IMPORT_DEPTH_MAX; trace.depth++)
        trace.context =
            cn_import_call(h->import, trace.context, h->frames[at->first_frame + i]);
    trace.address = (uint32_t)address;
    CN_PUSH(h->traces, h->trace_count, h->trace_capacity, trace);
    return true;
}

/* Of what the innermost function of a trace allocates, with its line. */
static uint32_t context_of(struct heaptrack *h, uint64_t number)
{
    if (number == 0 || h->traces[number - 1].context == 0)
        return cn_heap_import_unknown(&h->heap);
    const struct heaptrack_trace *trace = &h->traces[number - 1];
    const struct heaptrack_address *at =
        trace->address > 0 ? &h->addresses[trace->address - 1] : NULL;
    if (!at || at->file == 0 || at->line == 0 || trace->depth == CN_IMPORT_DEPTH_MAX)
        return trace->context;
    char *file = copy_string(h, at->file);
    uint32_t context = cn_import_line(h->import, trace->context, file, at->line);
    free(file);
    return context;
}

static bool read_kind(struct heaptrack *h, struct cn_bytes rest, struct cn_error *err)
{
    uint64_t size, trace;

    if (!take_number(&rest, "size", UINT64_C(1) << 52, &size, err) ||
        !take_number(&rest, "trace", h->trace_count, &trace, err))
        return false;
    CN_PUSH(h->kinds, h->kind_count, h->kind_capacity,
            (struct heaptrack_kind){size, context_of(h, trace)});
    return true;
}

static bool read_event(struct heaptrack *h, struct cn_bytes rest, bool is_gain,
                       struct cn_error *err)
{
    uint64_t number;

    if (!take_number(&rest, "allocation", UINT64_MAX, &number, err))
        return false;
    if (number >= h->kind_count)
        return cn_fail(err, CN_ERR_FORMAT, "allocation %" PRIu64 " of %zu", number,
                       h->kind_count);
    const struct heaptrack_kind *kind = &h->kinds[number];
    struct cn_heap_block block = {
        .time_ns = h->time_ns,
        .size = kind->size,
        .calls = 1,
        .context = kind->context,
    };

    if (is_gain)
        cn_heap_use_gain(h->heap.use, &block);
    else
        cn_heap_use_lose(h->heap.use, &block, h->last_kind == number + 1);
    h->last_kind = is_gain ? number + 1 : 0;
    return true;
}

static bool read_line(struct heaptrack *h, struct cn_bytes line, struct cn_error *err)
{
    struct cn_bytes rest = {0};
    uint64_t ms;

    (void)cn_bytes_from(line, line.len > 1 ? 2 : 1, &rest);
    switch (line.ptr[0]) {
    case 'v':
        return cn_fail(err, CN_ERR_FORMAT, "a second version");
    case 'm': /* a module */
        return cn_fail(err, CN_ERR_FORMAT,
                       "raw data of 'heaptrack --raw', without functions; run "
                       "heaptrack_interpret on it first");
    case 's':
        return read_string(h, rest, err);
    case 'i':
        return read_address(h, rest, err);
    case 't':
        return read_trace(h, rest, err);
    case 'a':
        return read_kind(h, rest, err);
    case '+':
        return read_event(h, rest, true, err);
    case '-':
        return read_event(h, rest, false, err);
    case 'c':
        if (!take_number(&rest, "time", UINT64_MAX / NS_PER_MS, &ms, err))
            return false;
        h->time_ns = ms * NS_PER_MS;
        return true;
    default: /* X command, I pages, R resident memory, # comment and others */
        h->other_count += line.ptr[0] == 'R';
        return true;
    }
}

/* "v 10400 3": of heaptrack, and of the format, which the first versions did not have. */
static bool read_version(struct cn_bytes *rest, uint64_t *version)
{
    struct cn_bytes line = cn_line_take(rest), word = cn_word_take(&line);
    uint64_t program;

    if (word.len != 1 || word.ptr[0] != 'v' || !take_hex(&line, &program))
        return false;
    if (!take_hex(&line, version))
        *version = 1;
    return program >= 0x10000 && program < 0x1000000;
}

static bool read_lines(struct heaptrack *h, struct cn_bytes rest, struct cn_error *err)
{
    uint64_t number = 1;

    while (rest.len > 0) {
        bool is_cut = !memchr(rest.ptr, '\n', rest.len);
        struct cn_bytes line = cn_line_take(&rest);

        number++;
        if (line.len == 0)
            continue;
        if (is_cut || !read_line(h, line, err)) {
            if (!is_cut && err->kind != CN_ERR_FORMAT)
                return false;
            cn_import_warn(h->import, true, "line %" PRIu64 ": %s; read up to there",
                           number, is_cut ? "it is cut off" : err->text);
            return true;
        }
    }
    return true;
}

bool cn_heaptrack_read(struct cn_import *import, struct cn_bytes bytes,
                       struct cn_error *err)
{
    struct heaptrack h = {.import = import};
    struct cn_bytes rest = bytes;

    if (!read_version(&rest, &h.version))
        return cn_fail(err, CN_ERR_FORMAT, "line 1: not the version of heaptrack");
    if (h.version > VERSION_MAX)
        return cn_fail(err, CN_ERR_VERSION,
                       "format %" PRIu64 " of heaptrack, can read 1 to %d", h.version,
                       VERSION_MAX);
    bool ok = cn_heap_import_init(&h.heap, import, err) && read_lines(&h, rest, err) &&
              cn_heap_import_finish(&h.heap, err);
    if (ok && h.other_count > 0)
        cn_import_lose(import, "readings of resident memory", h.other_count);
    done(&h);
    return ok;
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    uint64_t version;

    (void)is_whole;
    return read_version(&beginning, &version);
}

static bool probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}

static bool open_heaptrack(struct cn_database **out, const char *path,
                           struct cn_error *err)
{
    return cn_import_database(out, path, "heap profile of heaptrack", cn_heaptrack_read,
                              err);
}

const struct cn_format cn_format_heaptrack = {
    .name = "heaptrack",
    .summary = "heap profile of heaptrack: allocated, live and temporary by stack",
    .holds = "stacks",
    .is_file = true,
    .probe = probe,
    .open_database = open_heaptrack,
};
