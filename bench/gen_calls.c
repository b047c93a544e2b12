/* A recording in which every call has a context of its own, by THREADS tasks:
 *
 *     gen_calls DIR tree DEPTH THREADS
 *         a complete tree of calls of two functions, DEPTH levels deep
 *     gen_calls DIR comb DEPTH THREADS
 *         a function that calls itself until it is DEPTH levels deep; at each level
 *         eleven others do the same
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/out.h"
#include "base/text.h"
#include "formats/uftrace/format.h"

enum {
    TREE_DEPTH_MAX = 30,
    COMB_DEPTH_MAX = 1023, /* a depth has ten bits */
    FUNCTION_COUNT = 12,
    FUNCTION_LEN = 0x1000,
    FIRST_TID = 100,
    STEP_NS = 50,
};

static const uint64_t base = 0x400000;

static bool write_text(const char *dir, const char *name, const struct cn_text *text,
                       struct cn_error *err)
{
    struct cn_out out = {0};
    bool ok = cn_out_open_at(&out, dir, name, err) &&
              cn_out_write(&out, cn_text_str(text), text->len, err) &&
              cn_out_close(&out, err);

    cn_out_abandon(&out);
    return ok;
}

static bool write_info(const char *dir, struct cn_error *err)
{
    static const uint8_t head[40] = {'F', 't', 'r', 'a', 'c',  'e',  '!', 0, 4, 0, 0, 0,
                                     40,  0,   1,   2,   0x62, 0x10, 0,   0, 0, 0, 0, 0,
                                     1,   0,   0,   0,   0,    0,    0,   0, 0, 4};
    struct cn_text text = {0};
    bool ok;

    cn_text_add(&text, (const char *)head, sizeof(head));
    cn_text_str_add(&text, "exename:/opt/tree\n");
    ok = write_text(dir, "info", &text, err);
    cn_text_done(&text);
    return ok;
}

static bool write_tables(const char *dir, unsigned threads, struct cn_error *err)
{
    struct cn_text tasks = {0}, map = {0}, symbols = {0};
    bool ok;

    cn_text_printf(&tasks,
                   "SESS timestamp=1.000000000 pid=%d sid=0123456789abcdef "
                   "exename=\"/opt/tree\"\n",
                   FIRST_TID);
    for (unsigned i = 0; i < threads; i++)
        cn_text_printf(&tasks, "TASK timestamp=1.%09u tid=%u pid=%d\n", i + 1,
                       FIRST_TID + i, FIRST_TID);
    cn_text_printf(&map, "%012" PRIx64 "-%012" PRIx64 " r-xp 00000000 00:00 0 %s\n", base,
                   base + (FUNCTION_COUNT + 1) * FUNCTION_LEN, "/opt/tree");
    cn_text_printf(&symbols, "# symbols: %d\n# path name: /opt/tree\n", FUNCTION_COUNT);
    for (int i = 0; i < FUNCTION_COUNT; i++)
        cn_text_printf(&symbols, "%016x %08x T f%d\n", (i + 1) * FUNCTION_LEN, 0x100, i);
    ok = write_text(dir, "task.txt", &tasks, err) &&
         write_text(dir, "sid-0123456789abcdef.map", &map, err) &&
         write_text(dir, "tree.sym", &symbols, err);
    cn_text_done(&tasks);
    cn_text_done(&map);
    cn_text_done(&symbols);
    return ok;
}

static bool write_record(struct cn_out *out, uint64_t time_ns, unsigned type,
                         unsigned depth, unsigned function, struct cn_error *err)
{
    struct cn_uft_record record = {
        .time_ns = time_ns,
        .word = (uint64_t)type << CN_UFT_TYPE_AT |
                (uint64_t)CN_UFT_RECORD_MAGIC << CN_UFT_RECORD_MAGIC_AT |
                (uint64_t)depth << CN_UFT_DEPTH_AT |
                (base + (function + 1) * (uint64_t)FUNCTION_LEN) << CN_UFT_ADDRESS_AT,
    };
    uint8_t bytes[cn_uft_record_size];

    cn_uft_record_encode(&record, bytes);
    return cn_out_write(out, bytes, sizeof(bytes), err);
}

/* Enter and leave all nodes of the tree: `done[d]` children of the call at depth d. */
static bool write_tree(struct cn_out *out, unsigned depth_max, uint64_t time_ns,
                       struct cn_error *err)
{
    unsigned done[TREE_DEPTH_MAX + 1] = {0};
    unsigned depth = 0;

    for (;;) {
        time_ns += STEP_NS;
        if (depth < depth_max && done[depth] < 2) {
            if (!write_record(out, time_ns, CN_UFT_ENTRY, depth, done[depth], err))
                return false;
            done[++depth] = 0;
        } else if (depth > 0) {
            depth--;
            if (!write_record(out, time_ns, CN_UFT_EXIT, depth, done[depth]++, err))
                return false;
        } else {
            return true;
        }
    }
}

/* Call a function from `depth` on until it is `depth_max` deep, and come back. */
static bool write_recursion(struct cn_out *out, unsigned function, unsigned depth,
                            unsigned depth_max, uint64_t *time_ns, struct cn_error *err)
{
    unsigned at = depth;

    for (; at < depth_max; at++)
        if (!write_record(out, *time_ns += STEP_NS, CN_UFT_ENTRY, at, function, err))
            return false;
    while (at > depth)
        if (!write_record(out, *time_ns += STEP_NS, CN_UFT_EXIT, --at, function, err))
            return false;
    return true;
}

static bool write_comb(struct cn_out *out, unsigned depth_max, uint64_t time_ns,
                       struct cn_error *err)
{
    unsigned depth = 0;

    for (; depth < depth_max; depth++) {
        if (!write_record(out, time_ns += STEP_NS, CN_UFT_ENTRY, depth, 0, err))
            return false;
        for (unsigned i = 1; i < FUNCTION_COUNT; i++)
            if (!write_recursion(out, i, depth + 1, depth_max, &time_ns, err))
                return false;
    }
    while (depth > 0)
        if (!write_record(out, time_ns += STEP_NS, CN_UFT_EXIT, --depth, 0, err))
            return false;
    return true;
}

static bool write_task(const char *dir, unsigned number, bool is_comb, unsigned depth,
                       struct cn_error *err)
{
    uint64_t start_ns = 2000000000 + number;
    struct cn_out out = {0};
    char name[32];
    bool ok;

    (void)snprintf(name, sizeof(name), "%u.dat", FIRST_TID + number);
    ok = cn_out_open_at(&out, dir, name, err) &&
         (is_comb ? write_comb(&out, depth, start_ns, err)
                  : write_tree(&out, depth, start_ns, err)) &&
         cn_out_close(&out, err);
    cn_out_abandon(&out);
    return ok;
}

int main(int argc, char **argv)
{
    bool is_comb = argc == 5 && strcmp(argv[2], "comb") == 0;
    bool is_tree = argc == 5 && strcmp(argv[2], "tree") == 0;
    unsigned long depth = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
    unsigned long threads = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
    struct cn_error err = {0};
    bool ok;

    if (is_comb == is_tree || depth < 1 ||
        depth > (is_comb ? COMB_DEPTH_MAX : TREE_DEPTH_MAX) || threads < 1 ||
        threads > 1000) {
        (void)fprintf(stderr, "usage: gen_calls DIR tree|comb DEPTH THREADS\n");
        return 2;
    }
    ok = mkdir(argv[1], 0777) == 0 || cn_fail_errno(&err, "%s", argv[1]);
    ok =
        ok && write_info(argv[1], &err) && write_tables(argv[1], (unsigned)threads, &err);
    for (unsigned i = 0; ok && i < threads; i++)
        ok = write_task(argv[1], i, is_comb, (unsigned)depth, &err);
    if (!ok)
        (void)fprintf(stderr, "gen_calls: %s\n", err.text);
    return ok ? 0 : 1;
}
