/* Tasks: the TASK and FORK lines of task.txt, the files of records, and the sessions of
 * each task. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/sort.h"
#include "formats/memory/format.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/records/reader.h"
#include "formats/uftrace/text/task_reader.h"
#include "model/memory/log.h"

/* A process and its sessions, in the order of task.txt. */
struct process {
    uint32_t pid, parent_pid;
    bool is_forked;
    struct cn_task_session *sessions;
    size_t count, capacity;
};

struct task_building {
    struct cn_uft_directory *dir;
    struct process *processes;
    size_t count, capacity;
    struct cn_map process_of_pid, task_of_tid;
    struct cn_map begun;   /* tasks whose TASK line was read */
    uint32_t next_session; /* sessions are in the order of SESS lines */
};

static struct process *process_at(struct task_building *b, uint32_t pid)
{
    uint32_t index = *cn_map_at(&b->process_of_pid, pid, (uint32_t)b->count);

    if (index == b->count) {
        CN_PUSH(b->processes, b->count, b->capacity,
                (struct process){.pid = pid, .parent_pid = pid});
    }
    return &b->processes[index];
}

static void enter_session(struct process *process, uint64_t from_ns, uint32_t session)
{
    CN_PUSH(process->sessions, process->count, process->capacity,
            (struct cn_task_session){from_ns, session});
}

static struct cn_task *task_at(struct task_building *b, uint32_t tid, uint32_t pid,
                               uint64_t time_ns)
{
    struct cn_uft_directory *dir = b->dir;
    uint32_t index = *cn_map_at(&b->task_of_tid, tid, (uint32_t)dir->task_count);

    if (index == dir->task_count) {
        CN_PUSH(dir->tasks, dir->task_count, dir->task_capacity,
                (struct cn_task){.tid = tid,
                                 .pid = pid,
                                 .parent = CN_NONE,
                                 .name = "",
                                 .time_ns = time_ns});
    }
    return &dir->tasks[index];
}

static void begin_session(struct task_building *b, const struct cn_uft_task_line *line)
{
    const struct cn_uft_directory *dir = b->dir;
    uint32_t session = b->next_session;

    if (session >= dir->session_count ||
        !cn_uft_text_equals(line->sid, dir->sessions[session].sid))
        return;
    b->next_session++;
    enter_session(process_at(b, line->pid), line->time_ns, session);
    task_at(b, line->pid, line->pid, line->time_ns)->has_session = true;
}

/* The SESS line comes shortly before the TASK line of its first task. */
static void begin_task(struct task_building *b, const struct cn_uft_task_line *line)
{
    struct cn_task *task = task_at(b, line->tid, line->pid, line->time_ns);

    task->pid = line->pid;
    if (task->has_session && !task->is_fork &&
        (*cn_map_at(&b->begun, line->tid, 0))++ == 0)
        task->time_ns = line->time_ns;
}

/* The child inherits the session of its parent. */
static void fork_process(struct task_building *b, const struct cn_uft_task_line *line)
{
    struct process *parent = process_at(b, line->parent_pid);
    uint32_t session = CN_NONE;

    for (size_t i = parent->count; i-- > 0 && session == CN_NONE;)
        if (parent->sessions[i].from_ns <= line->time_ns || i == 0)
            session = parent->sessions[i].session;
    struct process *child = process_at(b, line->pid);
    child->is_forked = true;
    child->parent_pid = line->parent_pid;
    if (session != CN_NONE)
        enter_session(child, line->time_ns, session);
    task_at(b, line->pid, line->pid, line->time_ns)->is_fork = true;
}

static void read_tasks(struct task_building *b, struct cn_bytes file)
{
    struct cn_uft_lines lines;
    struct cn_uft_task_line line;
    struct cn_error ignored = {0};
    enum cn_step step;

    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_task_next(&lines, &line, &ignored)) != CN_END) {
        if (step == CN_FAIL || b->dir->task_count >= CN_UFT_TASKS_MAX)
            continue;
        if (line.kind == CN_UFT_SESS)
            begin_session(b, &line);
        else if (line.kind == CN_UFT_TASK)
            begin_task(b, &line);
        else if (line.kind == CN_UFT_FORK)
            fork_process(b, &line);
    }
}

/* Tasks that are missing in task.txt are shown if they have records. */
static void add_files(struct task_building *b)
{
    struct cn_uft_directory *dir = b->dir;
    uint32_t tid;

    for (size_t i = 0; i < dir->entry_count; i++) {
        const struct cn_uft_entry *entry = &dir->entries[i];

        if (cn_uft_task_file(entry->name, &tid) == CN_UFT_NO_TASK)
            continue;
        if (cn_map_find(&b->task_of_tid, tid, CN_NONE) == CN_NONE)
            cn_recording_warn(&dir->rec, true, "%s: this task is missing in task.txt",
                              entry->name);
        struct cn_task *task = task_at(b, tid, tid, 0);
        task->has_file = true;
        task->data_len = cn_file_content(&entry->file).len;
    }
}

bool cn_uft_heap_begin(const struct cn_uft_directory *dir, uint32_t tid,
                       struct cn_heap_log *out)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "%" PRIu32 CN_MEMORY_SUFFIX, tid);
    const struct cn_uft_entry *entry = cn_uft_directory_entry(dir, name);
    if (entry)
        *out = (struct cn_heap_log){.name = entry->name, .file = entry->file.bytes};
    return entry;
}

/* Find the records of a task, and its first time. */
static void add_records(struct cn_uft_directory *dir, size_t index)
{
    struct cn_task *task = &dir->tasks[index];
    struct cn_uft_records *records = &dir->records[index];
    struct cn_uft_record_block block;
    struct cn_error err = {0};
    const struct cn_uft_entry *entry = NULL;

    for (size_t i = 0; i < 2 && !entry && task->has_file; i++) {
        char wanted[16];

        (void)snprintf(wanted, sizeof(wanted), "%" PRIu32 "%s", task->tid,
                       i == 0 ? ".dat" : ".zts");
        entry = cn_uft_directory_entry(dir, wanted);
    }
    if (!entry)
        return;
    if (!cn_uft_records_init(records, entry->name, cn_file_content(&entry->file),
                             dir->rec.is_big_endian, &err)) {
        cn_recording_warn(&dir->rec, true, "%s", err.text);
        *records = (struct cn_uft_records){0};
        return;
    }
    records->is_mapped = !entry->file.ranges;
    struct cn_uft_record_reader *reader = cn_uft_record_reader_new(records, 0);
    if (cn_uft_record_reader_next(reader, 0, &block, &err) == CN_ITEM)
        task->has_first = cn_uft_first_time(&dir->rec, block.bytes, &task->first_ns);
    cn_uft_record_reader_free(reader);
    if (task->time_ns == 0)
        task->time_ns = task->first_ns;
}

/* All tasks of a process share its list of sessions. */
static void settle_process(struct task_building *b, struct process *process)
{
    if (process->count == 0)
        return;
    CN_SORT(process->sessions, process->count, CN_UP(struct cn_task_session, from_ns),
            CN_UP(struct cn_task_session, session));
    struct cn_task_session *copy =
        cn_arena_alloc(&b->dir->rec.arena, process->count, sizeof(*copy));
    memcpy(copy, process->sessions, process->count * sizeof(*copy));
    copy[0].from_ns = 0;
    free(process->sessions);
    process->sessions = copy;
}

static void settle_task(struct task_building *b, struct cn_task *task)
{
    struct cn_uft_directory *dir = b->dir;
    uint32_t index = cn_map_find(&b->process_of_pid, task->pid, CN_NONE);
    const struct process *process = index == CN_NONE ? NULL : &b->processes[index];

    if (process && process->count > 0) {
        uint32_t last = process->sessions[process->count - 1].session;

        task->sessions = process->sessions;
        task->session_count = process->count;
        task->name = cn_path_name(dir->sessions[last].exename);
    }
    if (task->tid != task->pid)
        task->parent = cn_recording_find_task(&dir->rec, task->pid);
    else if (process && process->is_forked)
        task->parent = cn_recording_find_task(&dir->rec, process->parent_pid);
}

void cn_uft_tasks_build(struct cn_uft_directory *dir)
{
    struct task_building b = {.dir = dir};
    struct cn_bytes file;

    if (cn_uft_directory_find(dir, "task.txt", &file))
        read_tasks(&b, file);
    add_files(&b);
    CN_SORT(dir->tasks, dir->task_count, CN_UP(struct cn_task, tid));
    dir->rec.tasks = dir->tasks;
    dir->rec.task_count = (uint32_t)dir->task_count;
    dir->records = cn_alloc(dir->task_count, sizeof(*dir->records));
    for (size_t i = 0; i < dir->task_count; i++) {
        struct cn_heap_log log;

        add_records(dir, i);
        if (cn_uft_heap_begin(dir, dir->tasks[i].tid, &log)) {
            dir->tasks[i].heap_len = log.file.len;
            dir->rec.has_heap = true;
        }
    }
    for (size_t i = 0; i < b.count; i++)
        settle_process(&b, &b.processes[i]);
    for (size_t i = 0; i < dir->task_count; i++) {
        settle_task(&b, &dir->tasks[i]);
        if (dir->tasks[i].has_file)
            cn_uft_source_add(
                dir, cn_arena_printf(&dir->rec.arena, "%u.dat", dir->tasks[i].tid),
                CN_SOURCE_TASK, (uint32_t)i);
    }
    for (size_t i = 0; i < b.count; i++)
        if (b.processes[i].count == 0)
            free(b.processes[i].sessions);
    free(b.processes);
    cn_map_done(&b.process_of_pid);
    cn_map_done(&b.task_of_tid);
    cn_map_done(&b.begun);
}
