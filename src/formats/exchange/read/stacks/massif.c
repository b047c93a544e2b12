/* Reader of massif.out, as documented in the manual of Valgrind: snapshots, some of which have a tree of
 * what was live, whose lines are a function and below it its callers:
 *
 *     desc: ...
 *     cmd: ./work
 *     time_unit: i
 *     #-----------
 *     snapshot=7
 *     #-----------
 *     time=20608815
 *     mem_heap_B=55034096
 *     mem_heap_extra_B=101648
 *     mem_stacks_B=0
 *     heap_tree=peak
 *     n2: 55034096 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 *      n0: 45033824 0x10922A: main (work.c:8)
 *      n0: 10000272 in 2 places, all below massif's threshold (1.00%)
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/exchange/exchange.h"
#include "formats/exchange/read/lines.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/heap.h"
#include "formats/exchange/read/stacks/import.h"

enum { DEPTH_MAX = 512 };

/* In the place of callers that massif left out. */
#define BELOW "<below massif's threshold>"

struct massif_snapshot {
    struct cn_bytes tree; /* its lines */
    uint64_t bytes, number;
    bool has_tree, is_peak;
};

struct massif {
    struct cn_import *import;
    struct cn_heap_import heap;
    struct massif_snapshot best, last;
    uint64_t count, line;
    struct cn_bytes labels[DEPTH_MAX]; /* of the path in the tree */
};

static bool starts_with(struct cn_bytes line, const char *text)
{
    size_t len = strlen(text);

    return line.len >= len && memcmp(line.ptr, text, len) == 0;
}

static bool take_digits(struct cn_bytes *rest, uint64_t *out)
{
    size_t len = 0;

    *out = 0;
    for (; len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9'; len++)
        if (len == 18)
            return false;
        else
            *out = *out * 10 + (uint64_t)(rest->ptr[len] - '0');
    return len > 0 && cn_bytes_from(*rest, len, rest);
}

/* "mem_heap_B=123" */
static bool take_value(struct cn_bytes line, const char *key, uint64_t *out)
{
    return starts_with(line, key) && cn_bytes_from(line, strlen(key), &line) &&
           take_digits(&line, out) && line.len == 0;
}

/* The last "text" in "begin(text)", and where its parenthesis opens. */
static bool find_place(struct cn_bytes label, struct cn_bytes *place, size_t *at)
{
    const uint8_t *open = label.len > 0 ? memrchr(label.ptr, '(', label.len) : NULL;

    if (!open || label.ptr[label.len - 1] != ')')
        return false;
    *at = (size_t)(open - label.ptr);
    return cn_bytes_slice(label, *at + 1, label.len - *at - 2, place);
}

/* "file.c:12": the line, and the length of the name. */
static uint64_t line_of(struct cn_bytes place, size_t *name_len)
{
    const uint8_t *colon = place.len > 0 ? memrchr(place.ptr, ':', place.len) : NULL;
    struct cn_bytes digits;
    uint64_t line;

    *name_len = place.len;
    if (!colon || !cn_bytes_from(place, (size_t)(colon - place.ptr) + 1, &digits) ||
        !take_digits(&digits, &line) || digits.len > 0 || line > INT32_MAX)
        return 0;
    *name_len = (size_t)(colon - place.ptr);
    return line;
}

/* "0x10922A: grow (work.c:8)", "0x4A2B: ??? (in /usr/lib/x.so)" */
static uint32_t add_label(struct massif *m, uint32_t context, struct cn_bytes label,
                          bool is_innermost)
{
    const uint8_t *colon = label.len > 0 ? memchr(label.ptr, ':', label.len) : NULL;
    struct cn_bytes name = label, place = {0};
    size_t at = 0, file_len = 0;
    bool is_module = false;
    uint64_t line = 0;

    if (!starts_with(label, "0x") || !colon)
        return cn_import_call(
            m->import, context,
            cn_import_frame(m->import, &(struct cn_import_frame){
                                           .name = BELOW, .module = "", .file = ""}));
    (void)cn_bytes_from(label, (size_t)(colon - label.ptr) + 1, &name);
    if (find_place(name, &place, &at)) {
        (void)cn_bytes_slice(name, 0, at, &name);
        is_module = starts_with(place, "in ");
        if (is_module)
            (void)cn_bytes_from(place, 3, &place);
        else
            line = line_of(place, &file_len);
    }
    while (name.len > 0 && name.ptr[0] == ' ')
        (void)cn_bytes_from(name, 1, &name);
    while (name.len > 0 && name.ptr[name.len - 1] == ' ')
        name.len--;
    if (name.len == 3 && memcmp(name.ptr, "???", 3) == 0)
        name.len = 0;
    struct cn_bytes file = place;
    file.len = is_module ? 0 : file_len;
    char *name_text = cn_word_copy(name), *file_text = cn_word_copy(file);
    char *module_text = is_module ? cn_word_copy(place) : cn_strdup("");
    context = cn_import_call(
        m->import, context,
        cn_import_frame(m->import, &(struct cn_import_frame){.name = name_text,
                                                             .module = module_text,
                                                             .file = file_text}));
    if (is_innermost && line > 0)
        context = cn_import_line(m->import, context, file_text, (uint32_t)line);
    free(name_text);
    free(file_text);
    free(module_text);
    return context;
}

/* One line of a tree: how deep it is, how many callers follow, and the rest. */
static bool take_node(struct cn_bytes line, size_t *depth, uint64_t *children,
                      uint64_t *bytes, struct cn_bytes *label)
{
    size_t spaces = 0;

    while (spaces < line.len && line.ptr[spaces] == ' ')
        spaces++;
    *depth = spaces;
    return cn_bytes_from(line, spaces, &line) && starts_with(line, "n") &&
           cn_bytes_from(line, 1, &line) && take_digits(&line, children) &&
           starts_with(line, ": ") && cn_bytes_from(line, 2, &line) &&
           take_digits(&line, bytes) && starts_with(line, " ") &&
           cn_bytes_from(line, 1, label);
}

/* A line without callers is a stack. */
static bool add_tree(struct massif *m, struct cn_bytes tree, enum cn_heap_metric metric,
                     struct cn_error *err)
{
    uint64_t children, bytes;
    size_t depth;

    while (tree.len > 0) {
        struct cn_bytes line = cn_line_take(&tree);
        uint32_t context = 0;
        struct cn_bytes label;

        /* It was readable when the snapshots were. */
        if (!take_node(line, &depth, &children, &bytes, &label))
            return true;
        m->labels[depth] = label;
        if (children > 0)
            continue;
        for (size_t i = depth; i > 0; i--)
            context = add_label(m, context, m->labels[i], i == 1);
        if (context == 0)
            context = cn_heap_import_unknown(&m->heap);
        if (!cn_heap_import_add(&m->heap, context, metric, (double)bytes, err))
            return false;
    }
    return true;
}

/* The lines of a tree: as many as their numbers of callers say. */
static bool take_tree(struct massif *m, struct cn_bytes *rest, struct cn_bytes *tree,
                      struct cn_error *err)
{
    struct cn_bytes begin = *rest, label;
    uint64_t left = 1, children, bytes;
    size_t depth, last = 0;

    for (bool is_first = true; left > 0; is_first = false) {
        struct cn_bytes line = cn_line_take(rest);

        m->line++;
        if (!take_node(line, &depth, &children, &bytes, &label))
            return cn_fail(err, CN_ERR_FORMAT, "not a line of a heap tree");
        if (depth >= DEPTH_MAX || depth > (is_first ? 0 : last + 1) ||
            (!is_first && depth == 0))
            return cn_fail(err, CN_ERR_FORMAT, "a heap tree goes from depth %zu to %zu",
                           last, depth);
        if (children > UINT32_MAX)
            return cn_fail(err, CN_ERR_FORMAT, "%" PRIu64 " callers", children);
        left += children - 1;
        last = depth;
    }
    return cn_bytes_slice(begin, 0, begin.len - rest->len, tree);
}

static void end_snapshot(struct massif *m)
{
    struct massif_snapshot *s = &m->last;

    if (s->has_tree && (!m->best.has_tree || (s->is_peak && !m->best.is_peak) ||
                        (s->is_peak == m->best.is_peak && s->bytes > m->best.bytes)))
        m->best = *s;
}

static bool read_line(struct massif *m, struct cn_bytes line, struct cn_bytes *rest,
                      struct cn_error *err)
{
    uint64_t number;

    if (take_value(line, "snapshot=", &number)) {
        end_snapshot(m);
        m->last = (struct massif_snapshot){.number = number};
        m->count++;
    } else if (starts_with(line, "mem_heap_B=") &&
               !take_value(line, "mem_heap_B=", &m->last.bytes)) {
        return cn_fail(err, CN_ERR_FORMAT, "no number of bytes");
    } else if (starts_with(line, "heap_tree=detailed") ||
               starts_with(line, "heap_tree=peak")) {
        m->last.is_peak = starts_with(line, "heap_tree=peak");
        if (!take_tree(m, rest, &m->last.tree, err))
            return false;
        m->last.has_tree = true;
    }
    return true;
}

bool cn_massif_read(struct cn_import *import, struct cn_bytes bytes, struct cn_error *err)
{
    struct massif m = {.import = import};
    struct cn_bytes rest = bytes;
    bool is_whole = true;

    while (rest.len > 0 && is_whole) {
        struct cn_bytes line = cn_line_take(&rest);

        m.line++;
        is_whole = read_line(&m, line, &rest, err);
    }
    if (!is_whole) {
        cn_import_warn(import, true, "line %" PRIu64 ": %s; read up to there", m.line,
                       err->text);
        m.last.has_tree = false;
    }
    if (m.count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no snapshots of massif");
    end_snapshot(&m);
    if (!m.best.has_tree)
        return cn_fail(err, CN_ERR_FORMAT,
                       "none of %" PRIu64 " snapshots has stacks: run valgrind with "
                       "--detailed-freq=1",
                       m.count);
    bool ok = cn_heap_import_init(&m.heap, import, err) &&
              add_tree(&m, m.best.tree, CN_HEAP_LIVE_PEAK, err) &&
              (!m.last.has_tree || !is_whole ||
               add_tree(&m, m.last.tree, CN_HEAP_LIVE_END, err));
    if (!m.best.is_peak)
        cn_import_warn(import, false,
                       "massif has no stacks of the peak: what is shown as live at the "
                       "peak is of snapshot %" PRIu64 ", the largest one with stacks",
                       m.best.number);
    if (m.count > 1)
        cn_import_lose(import, "snapshots of massif", m.count - 1);
    cn_heap_import_done(&m.heap);
    return ok;
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    struct cn_bytes first = cn_line_take(&beginning), second = cn_line_take(&beginning);

    (void)is_whole;
    return starts_with(first, "desc:") && starts_with(second, "cmd:") &&
           starts_with(beginning, "time_unit:");
}

static bool probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}

static bool open_massif(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "heap profile of massif", cn_massif_read, err);
}

const struct cn_format cn_format_massif = {
    .name = "massif",
    .summary = "heap profile of massif (Valgrind): live at the peak by stack",
    .holds = "stacks",
    .is_file = true,
    .probe = probe,
    .open_database = open_massif,
};
