/* A recording in which every call has a context of its own: a complete tree of calls
 * of two functions, DEPTH levels deep, by THREADS tasks.
 *
 *     gen_calls DIR DEPTH THREADS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/out.h"
#include "base/text.h"
#include "formats/uftrace/format.h"

enum { DEPTH_MAX = 30, FIRST_TID = 100, STEP_NS = 50 };

static const uint64_t base = 0x400000;
static const uint64_t offsets[] = {0x1000, 0x2000};

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
                   base + 0x10000, "/opt/tree");
    cn_text_printf(&symbols,
                   "# symbols: 2\n# path name: /opt/tree\n"
                   "%016" PRIx64 " %08x T left\n%016" PRIx64 " %08x T right\n",
                   offsets[0], 0x100, offsets[1], 0x100);
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
                (base + offsets[function]) << CN_UFT_ADDRESS_AT,
    };
    uint8_t bytes[cn_uft_record_size];

    cn_uft_record_encode(&record, bytes);
    return cn_out_write(out, bytes, sizeof(bytes), err);
}

/* Enter and leave all nodes of the tree: `done[d]` children of the call at depth d. */
static bool write_calls(struct cn_out *out, unsigned depth_max, uint64_t time_ns,
                        struct cn_error *err)
{
    unsigned done[DEPTH_MAX + 1] = {0};
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

static bool write_task(const char *dir, unsigned number, unsigned depth,
                       struct cn_error *err)
{
    struct cn_out out = {0};
    char name[32];
    bool ok;

    (void)snprintf(name, sizeof(name), "%u.dat", FIRST_TID + number);
    ok = cn_out_open_at(&out, dir, name, err) &&
         write_calls(&out, depth, 2000000000 + number, err) && cn_out_close(&out, err);
    cn_out_abandon(&out);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned long depth = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned long threads = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    struct cn_error err = {0};
    bool ok;

    if (depth < 1 || depth > DEPTH_MAX || threads < 1 || threads > 1000) {
        (void)fprintf(stderr, "usage: gen_calls DIR DEPTH THREADS\n");
        return 2;
    }
    ok = mkdir(argv[1], 0777) == 0 || cn_fail_errno(&err, "%s", argv[1]);
    ok =
        ok && write_info(argv[1], &err) && write_tables(argv[1], (unsigned)threads, &err);
    for (unsigned i = 0; ok && i < threads; i++)
        ok = write_task(argv[1], i, (unsigned)depth, &err);
    if (!ok)
        (void)fprintf(stderr, "gen_calls: %s\n", err.text);
    return ok ? 0 : 1;
}
