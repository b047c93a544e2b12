/* Rules of the text files: info, task.txt, maps, symbols, debug information. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/uftrace/directory/checksums.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/text/debug_reader.h"
#include "formats/uftrace/text/task_reader.h"
#include "formats/uftrace/verify/verify.h"

static void bad_line(void *arg, uint64_t off, const struct cn_error *err)
{
    struct cn_uft_checking *c = arg;

    cn_findings_error(&c->f, "line-syntax", off, "%s", err->text);
}

static void check_info(struct cn_uft_checking *c)
{
    struct cn_uft_facts facts = {0};
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    struct cn_bytes file;

    cn_findings_begin(&c->f, "info");
    if (cn_uft_directory_find(c->dir, "info", &file) &&
        !cn_uft_facts_read(file, c->dir->rec.info_mask, &arena, &facts, &err))
        cn_findings_error(&c->f, "info-lines", cn_uft_info_header_size, "%s", err.text);
    if (c->dir->rec.header_len != cn_uft_info_header_size)
        cn_findings_warn(&c->f, "info-header-size", 12, "header size is %u instead of %d",
                         c->dir->rec.header_len, cn_uft_info_header_size);
    free(facts.list);
    cn_arena_done(&arena);
}

static bool find_file(void *arg, const char *name, struct cn_bytes *out)
{
    return cn_uft_directory_find(((struct cn_uft_checking *)arg)->dir, name, out);
}

static void bad_file(void *arg, const char *text)
{
    cn_findings_error(&((struct cn_uft_checking *)arg)->f, "checksum", 0, "%s", text);
}

static void check_checksums(struct cn_uft_checking *c)
{
    struct cn_bytes file;

    cn_findings_begin(&c->f, CN_UFT_CHECKSUMS_NAME);
    if (cn_uft_directory_find(c->dir, CN_UFT_CHECKSUMS_NAME, &file))
        cn_uft_checksums_check(file,
                               &(struct cn_uft_checksums_check){find_file, bad_file, c});
}

static void check_tasks(struct cn_uft_checking *c)
{
    struct cn_uft_lines lines;
    struct cn_uft_task_line line;
    struct cn_error err = {0};
    struct cn_bytes file;
    enum cn_step step;

    cn_findings_begin(&c->f, "task.txt");
    if (!cn_uft_directory_find(c->dir, "task.txt", &file)) {
        cn_findings_error(&c->f, "file-missing", 0, "not there: sessions are unknown");
        return;
    }
    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_task_next(&lines, &line, &err)) != CN_END) {
        uint64_t sid = 0;
        struct cn_bytes digits = line.sid;

        if (step == CN_FAIL) {
            bad_line(c, lines.off, &err);
            continue;
        }
        (void)cn_uft_scan_hex(&digits, &sid);
        if (line.kind == CN_UFT_DLOP &&
            cn_map_find(&c->dir->session_ids, sid, CN_NONE) == CN_NONE)
            cn_findings_error(&c->f, "session-known", lines.off,
                              "session %.*s of %.*s is unknown", (int)line.sid.len,
                              (const char *)line.sid.ptr, (int)line.path.len,
                              (const char *)line.path.ptr);
    }
    for (size_t i = 0; i < c->dir->task_count; i++)
        if (c->dir->tasks[i].session_count == 0 && c->dir->tasks[i].data_len > 0)
            cn_findings_error(&c->f, "task-session", 0,
                              "task %" PRIu32 " has records but no session",
                              c->dir->tasks[i].tid);
}

static void check_map(struct cn_uft_checking *c, const struct cn_session *session)
{
    char name[CN_UFT_SID_LEN + 16];
    struct cn_uft_lines lines;
    struct cn_uft_map_line line;
    struct cn_error err = {0};
    struct cn_bytes file;
    uint64_t last_end = 0;
    enum cn_step step;

    (void)snprintf(name, sizeof(name), "sid-%s.map", session->sid);
    cn_findings_begin(&c->f, name);
    if (!cn_uft_directory_find(c->dir, name, &file))
        cn_findings_error(&c->f, "file-missing", 0, "not there: %s has no functions",
                          session->exename);
    else {
        cn_uft_lines_begin(&lines, file);
        while ((step = cn_uft_map_next(&lines, &line, &err)) != CN_END) {
            if (step == CN_FAIL) {
                bad_line(c, lines.off, &err);
                continue;
            }
            if (line.begin < last_end)
                cn_findings_error(&c->f, "map-overlap", lines.off,
                                  "0x%" PRIx64 " lies before the end of the line "
                                  "before, 0x%" PRIx64,
                                  line.begin, last_end);
            last_end = line.end;
        }
    }
    cn_findings_begin(&c->f, NULL);
}

static void check_symbols(struct cn_uft_checking *c, uint32_t module)
{
    char name[NAME_MAX];
    struct cn_uft_symbols symbols;
    struct cn_bytes file;

    if (!cn_uft_module_file(c->dir, module, ".sym", name, &file))
        return;
    cn_findings_begin(&c->f, name);
    cn_uft_symbols_read(file, &symbols, bad_line, c);
    for (size_t i = 0; i + 1 < symbols.count; i++) {
        const struct cn_uft_symbol *here = &symbols.list[i], *next = here + 1;

        if (here->has_size && next->offset - here->offset < here->size)
            cn_findings_warn(&c->f, "symbol-overlap",
                             (uint64_t)(next->name.ptr - file.ptr),
                             "%.*s at 0x%" PRIx64 " lies inside %.*s",
                             (int)(next->name.len < 80 ? next->name.len : 80),
                             (const char *)next->name.ptr, next->offset,
                             (int)(here->name.len < 80 ? here->name.len : 80),
                             (const char *)here->name.ptr);
    }
    cn_uft_symbols_done(&symbols);
    cn_findings_begin(&c->f, NULL);
}

static void check_debug(struct cn_uft_checking *c, uint32_t module)
{
    char name[NAME_MAX];
    struct cn_uft_debug debug;
    struct cn_bytes file;

    if (!cn_uft_module_file(c->dir, module, ".dbg", name, &file))
        return;
    cn_findings_begin(&c->f, name);
    cn_uft_debug_read(file, &debug, bad_line, c);
    cn_uft_debug_done(&debug);
    cn_findings_begin(&c->f, NULL);
}

void cn_uft_check_texts(struct cn_uft_checking *c)
{
    check_checksums(c);
    check_info(c);
    check_tasks(c);
    for (size_t i = 0; i < c->dir->session_count; i++)
        check_map(c, &c->dir->sessions[i]);
    for (uint32_t i = 0; i < c->dir->module_count; i++) {
        check_symbols(c, i);
        check_debug(c, i);
    }
}
