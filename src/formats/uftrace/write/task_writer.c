/* task.txt and the maps of sessions. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "formats/uftrace/write/writer.h"

/* A line of task.txt. Lines are sorted by time; at the same time, a session comes before
 * its tasks. */
struct task_line {
    uint64_t time_ns;
    enum { LINE_SESSION, LINE_FORK, LINE_TASK, LINE_LOAD } kind;
    uint32_t index; /* of the session or task */
    const struct cn_mapping *load;
};

struct task_lines {
    struct task_line *list;
    size_t count, capacity;
};

static void add_line(struct task_lines *lines, struct task_line line)
{
    CN_PUSH(lines->list, lines->count, lines->capacity, line);
}

/* A process begins with FORK, or with SESS when it is the first of its program. A forked
 * process that called exec has both. */
static void collect(const struct cn_recording *rec, struct task_lines *lines)
{
    for (uint32_t i = 0; i < rec->session_count; i++) {
        const struct cn_session *session = &rec->sessions[i];

        add_line(lines, (struct task_line){session->time_ns, LINE_SESSION, i, NULL});
        for (size_t m = 0; m < session->mapping_count; m++)
            if (session->mappings[m].time_ns > 0)
                add_line(lines, (struct task_line){session->mappings[m].time_ns,
                                                   LINE_LOAD, i, &session->mappings[m]});
    }
    for (uint32_t i = 0; i < rec->task_count; i++) {
        const struct cn_task *task = &rec->tasks[i];

        if (task->is_fork && task->parent != CN_NONE)
            add_line(lines, (struct task_line){task->time_ns, LINE_FORK, i, NULL});
        else
            add_line(lines, (struct task_line){task->time_ns, LINE_TASK, i, NULL});
        if (task->is_fork && task->has_session)
            add_line(lines,
                     (struct task_line){
                         rec->sessions[task->sessions[task->session_count - 1].session]
                             .time_ns,
                         LINE_TASK, i, NULL});
    }
    CN_SORT(lines->list, lines->count, CN_UP(struct task_line, time_ns),
            CN_UP(struct task_line, kind), CN_UP(struct task_line, index));
}

static void print_line(const struct cn_recording *rec, const struct task_line *line,
                       struct cn_text *text)
{
    static const char *const names[] = {"SESS", "FORK", "TASK", "DLOP"};
    const struct cn_task *task = &rec->tasks[line->index];
    const struct cn_session *session = &rec->sessions[line->index];

    cn_text_printf(text, "%s timestamp=%" PRIu64 ".%09" PRIu64, names[line->kind],
                   line->time_ns / 1000000000, line->time_ns % 1000000000);
    switch (line->kind) {
    case LINE_SESSION:
        cn_text_printf(text, " pid=%" PRIu32 " sid=%s exename=\"%s\"\n", session->pid,
                       session->sid, session->exename);
        break;
    case LINE_FORK:
        cn_text_printf(text, " pid=%" PRIu32 " ppid=%" PRIu32 "\n", task->pid,
                       rec->tasks[task->parent].pid);
        break;
    case LINE_TASK:
        cn_text_printf(text, " tid=%" PRIu32 " pid=%" PRIu32 "\n", task->tid, task->pid);
        break;
    case LINE_LOAD:
        cn_text_printf(text, " tid=%" PRIu32 " sid=%s base=%" PRIx64 " libname=\"%s\"\n",
                       session->pid, session->sid, line->load->begin,
                       rec->modules[line->load->module].path);
        break;
    }
}

static bool write_map(const struct cn_uft_writing *w, const struct cn_session *session,
                      struct cn_error *err)
{
    struct cn_text text = {0};

    for (size_t i = 0; i < session->mapping_count; i++) {
        const struct cn_mapping *mapping = &session->mappings[i];
        const struct cn_call_module *module = &w->rec->modules[mapping->module];

        if (mapping->time_ns > 0)
            continue;
        cn_text_printf(&text, "%012" PRIx64 "-%012" PRIx64 " %s 00000000 00:00 0 %25s%s",
                       mapping->begin, mapping->end, mapping->protection, "",
                       module->path);
        if (module->build_id[0] != '\0')
            cn_text_printf(&text, " build-id:%s", module->build_id);
        cn_text_char(&text, '\n');
    }
    char *name = cn_strprintf("sid-%s.map", session->sid);
    bool ok = cn_uft_write_text(w, name, &text, err);
    free(name);
    cn_text_done(&text);
    return ok;
}

bool cn_uft_write_tasks(const struct cn_uft_writing *w, struct cn_error *err)
{
    struct task_lines lines = {0};
    struct cn_text text = {0};
    bool ok;

    collect(w->rec, &lines);
    for (size_t i = 0; i < lines.count; i++)
        print_line(w->rec, &lines.list[i], &text);
    free(lines.list);
    ok = cn_uft_write_text(w, "task.txt", &text, err);
    cn_text_done(&text);
    for (uint32_t i = 0; ok && i < w->rec->session_count; i++)
        ok = write_map(w, &w->rec->sessions[i], err);
    return ok;
}
