/* Sessions: the SESS and DLOP lines of task.txt, and the maps of sessions. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/text/task_reader.h"

/* The mappings of one session, while they are read. */
struct session_mappings {
    struct cn_mapping *list;
    size_t count, capacity;
};

/* Older recordings have a line for each segment of a module: merge them. */
static bool extends_last(const struct session_mappings *mappings, uint32_t module,
                         const struct cn_uft_map_line *line)
{
    if (mappings->count == 0)
        return false;
    struct cn_mapping *last = &mappings->list[mappings->count - 1];
    if (last->module != module || line->begin < last->end)
        return false;
    last->end = line->end;
    if (line->protection[2] == 'x')
        memcpy(last->protection, line->protection, sizeof(last->protection));
    return true;
}

static void read_map(struct cn_uft_directory *dir, const char *name, struct cn_bytes file,
                     struct session_mappings *out)
{
    struct cn_uft_bad_lines bad = {&dir->rec, name, 0};
    struct cn_uft_lines lines;
    struct cn_uft_map_line line;
    struct cn_error err = {0};
    enum cn_step step;

    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_map_next(&lines, &line, &err)) != CN_END) {
        if (step == CN_FAIL) {
            cn_uft_bad_line(&bad, lines.off, &err);
            continue;
        }
        if (line.path.len == 0 || line.path.ptr[0] == '[')
            continue;
        uint32_t module =
            cn_uft_module_add(dir, cn_uft_text_copy(&dir->rec.arena, line.path),
                              cn_uft_text_copy(&dir->rec.arena, line.build_id));
        if (extends_last(out, module, &line))
            continue;
        struct cn_mapping mapping = {line.begin, line.end, 0, module, ""};
        memcpy(mapping.protection, line.protection, sizeof(mapping.protection));
        CN_PUSH(out->list, out->count, out->capacity, mapping);
    }
    cn_uft_bad_lines_done(&bad);
    CN_SORT(out->list, out->count, CN_UP(struct cn_mapping, begin),
            CN_UP(struct cn_mapping, end));
}

/* Functions of Python have the lowest addresses, in every session. */
static void add_python(struct cn_uft_directory *dir, struct session_mappings *out)
{
    struct cn_bytes file;

    if (!cn_uft_directory_find(dir, CN_UFT_PYTHON ".sym", &file))
        return;
    CN_PUSH(out->list, out->count, out->capacity,
            (struct cn_mapping){0, CN_UFT_PYTHON_END, 0,
                                cn_uft_module_add(dir, CN_UFT_PYTHON, ""), "r-xp"});
    CN_SORT(out->list, out->count, CN_UP(struct cn_mapping, begin),
            CN_UP(struct cn_mapping, end));
}

static uint64_t sid_number(struct cn_bytes sid)
{
    uint64_t number = 0;

    (void)cn_uft_scan_hex(&sid, &number);
    return number;
}

static void add_session(struct cn_uft_directory *dir, const struct cn_uft_task_line *line)
{
    struct cn_arena *arena = &dir->rec.arena;
    size_t known = dir->session_capacity;
    struct session_mappings mappings = {0};
    const char *sid = cn_uft_text_copy(arena, line->sid);
    struct cn_session session = {
        .sid = sid,
        .pid = line->pid,
        .time_ns = line->time_ns,
        .exename = cn_uft_text_copy(arena, line->path),
    };
    const char *name = cn_arena_printf(arena, "sid-%s.map", sid);
    struct cn_bytes file;

    if (*cn_map_at(&dir->session_ids, sid_number(line->sid),
                   (uint32_t)dir->session_count) != dir->session_count) {
        cn_recording_warn(&dir->rec, true, "task.txt: session %s appears twice", sid);
        return;
    }
    if (cn_uft_directory_find(dir, name, &file))
        read_map(dir, name, file, &mappings);
    else
        cn_recording_warn(&dir->rec, true, "%s is missing: functions of %s are unknown",
                          name, session.exename);
    add_python(dir, &mappings);
    struct cn_mapping *copy = cn_arena_alloc(arena, mappings.count, sizeof(*copy));
    if (mappings.count > 0)
        memcpy(copy, mappings.list, mappings.count * sizeof(*copy));
    free(mappings.list);
    session.mappings = copy;
    session.mapping_count = mappings.count;
    CN_GROW(dir->sessions, dir->session_count, dir->session_capacity);
    if (dir->session_capacity != known)
        dir->map_counts =
            cn_realloc(dir->map_counts, dir->session_capacity, sizeof(*dir->map_counts));
    dir->map_counts[dir->session_count] = (uint32_t)mappings.count;
    dir->sessions[dir->session_count++] = session;
}

/* A DLOP line. */
struct loaded {
    uint32_t session;
    struct cn_mapping mapping;
};

struct loads {
    struct loaded *list;
    size_t count, capacity;
};

static void add_load(struct cn_uft_directory *dir, struct loads *loads,
                     const struct cn_uft_task_line *line, uint64_t number)
{
    uint32_t session = cn_map_find(&dir->session_ids, sid_number(line->sid), CN_NONE);
    const char *path = cn_uft_text_copy(&dir->rec.arena, line->path);

    if (session == CN_NONE) {
        cn_recording_warn(&dir->rec, true,
                          "task.txt: line %" PRIu64 ": %s was loaded into the unknown "
                          "session %.*s",
                          number, path, (int)line->sid.len, (const char *)line->sid.ptr);
        return;
    }
    CN_GROW(loads->list, loads->count, loads->capacity);
    /* Time 0 means "from the start", so a load is at time 1 or later. */
    loads->list[loads->count++] = (struct loaded){
        session,
        {line->base, UINT64_MAX, line->time_ns > 0 ? line->time_ns : 1,
         cn_uft_module_add(dir, path, ""), "r-xp"},
    };
}

/* Append the loaded libraries to their sessions. */
static void append_loads(struct cn_uft_directory *dir, struct loads *loads)
{
    size_t next = 0;

    CN_SORT(loads->list, loads->count, CN_UP(struct loaded, session),
            CN_UP(struct loaded, mapping.time_ns));
    while (next < loads->count) {
        uint32_t index = loads->list[next].session;
        struct cn_session *session = &dir->sessions[index];
        size_t end = next, count = session->mapping_count;

        while (end < loads->count && loads->list[end].session == index)
            end++;
        /* Resolving an address searches them linearly. */
        if (end - next > CN_UFT_LOADS_MAX) {
            cn_recording_warn(&dir->rec, true,
                              "task.txt: session %s loads %zu libraries, at most %d",
                              session->sid, end - next, CN_UFT_LOADS_MAX);
            next = end - CN_UFT_LOADS_MAX;
        }
        struct cn_mapping *all =
            cn_arena_alloc(&dir->rec.arena, count + end - next, sizeof(*all));
        if (count > 0)
            memcpy(all, session->mappings, count * sizeof(*all));
        for (; next < end; next++)
            all[count++] = loads->list[next].mapping;
        session->mappings = all;
        session->mapping_count = count;
    }
    free(loads->list);
}

void cn_uft_sessions_build(struct cn_uft_directory *dir)
{
    struct cn_uft_bad_lines bad = {&dir->rec, "task.txt", 0};
    struct cn_uft_lines lines;
    struct cn_uft_task_line line;
    struct cn_error err = {0};
    struct loads loads = {0};
    struct cn_bytes file;
    enum cn_step step;

    if (!cn_uft_directory_find(dir, "task.txt", &file)) {
        cn_recording_warn(&dir->rec, true, "task.txt is missing: functions are unknown");
        return;
    }
    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_task_next(&lines, &line, &err)) != CN_END) {
        if (step == CN_FAIL)
            cn_uft_bad_line(&bad, lines.off, &err);
        else if (line.kind == CN_UFT_SESS)
            add_session(dir, &line);
        else if (line.kind == CN_UFT_DLOP)
            add_load(dir, &loads, &line, lines.number);
    }
    cn_uft_bad_lines_done(&bad);
    append_loads(dir, &loads);
}
