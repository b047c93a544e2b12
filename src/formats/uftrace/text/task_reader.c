#include "formats/uftrace/text/task_reader.h"

#include "base/bytes/digits.h"
#include "formats/uftrace/format.h"

static bool scan_sid(struct cn_bytes *text, struct cn_bytes *out)
{
    struct cn_bytes sid;

    if (!cn_uft_scan_word(text, &sid) || sid.len != CN_UFT_SID_LEN ||
        !cn_hex_is(sid.ptr, sid.len))
        return false;
    *out = sid;
    return true;
}

/* " key=" */
static bool scan_key(struct cn_bytes *text, const char *key)
{
    return cn_uft_scan_spaces(text) && cn_uft_scan_literal(text, key) &&
           cn_uft_scan_literal(text, "=");
}

static bool scan_session(struct cn_bytes *rest, struct cn_uft_task_line *out)
{
    struct cn_bytes older = *rest;

    if (!scan_key(rest, "pid")) {
        *rest = older;
        if (!scan_key(rest, "tid"))
            return false;
    }
    if (!cn_uft_scan_u32(rest, &out->pid))
        return false;
    out->tid = out->pid;
    return scan_key(rest, "sid") && scan_sid(rest, &out->sid) &&
           scan_key(rest, "exename") && cn_uft_scan_quoted(rest, &out->path);
}

static bool scan_dlopen(struct cn_bytes *rest, struct cn_uft_task_line *out)
{
    return scan_key(rest, "tid") && cn_uft_scan_u32(rest, &out->tid) &&
           scan_key(rest, "sid") && scan_sid(rest, &out->sid) && scan_key(rest, "base") &&
           cn_uft_scan_hex(rest, &out->base) && scan_key(rest, "libname") &&
           cn_uft_scan_quoted(rest, &out->path);
}

static bool scan_fork(struct cn_bytes *rest, struct cn_uft_task_line *out)
{
    if (!scan_key(rest, "pid") || !cn_uft_scan_u32(rest, &out->pid) ||
        !scan_key(rest, "ppid") || !cn_uft_scan_u32(rest, &out->parent_pid))
        return false;
    out->tid = out->pid;
    return true;
}

static bool scan_task(struct cn_bytes *rest, struct cn_uft_task_line *out)
{
    return scan_key(rest, "tid") && cn_uft_scan_u32(rest, &out->tid) &&
           scan_key(rest, "pid") && cn_uft_scan_u32(rest, &out->pid);
}

static const struct {
    const char *name;
    bool (*scan)(struct cn_bytes *rest, struct cn_uft_task_line *out);
} kinds[] = {
    [CN_UFT_SESS] = {"SESS", scan_session},
    [CN_UFT_TASK] = {"TASK", scan_task},
    [CN_UFT_FORK] = {"FORK", scan_fork},
    [CN_UFT_DLOP] = {"DLOP", scan_dlopen},
};

static bool scan_line(struct cn_bytes line, void *out)
{
    struct cn_uft_task_line found = {0};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct cn_bytes rest = line;

        if (!cn_uft_scan_literal(&rest, kinds[i].name) || !scan_key(&rest, "timestamp"))
            continue;
        found.kind = (enum cn_uft_task_kind)i;
        if (!cn_uft_scan_time(&rest, &found.time_ns) || !kinds[i].scan(&rest, &found))
            return false;
        *(struct cn_uft_task_line *)out = found;
        return true;
    }
    return false;
}

enum cn_step cn_uft_task_next(struct cn_uft_lines *lines, struct cn_uft_task_line *out,
                              struct cn_error *err)
{
    return cn_uft_lines_scan(lines, scan_line, out, err);
}
