#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "model/contexts/identity.h"
#include "server/served/served.h"

/* The task of a thread of a recording; NULL for other threads. */
static const struct cn_task *task_of(const struct cn_served *served, uint32_t index)
{
    return index == 0 || index > served->profiled_count
               ? NULL
               : &served->recording->tasks[served->profiled_tasks[index - 1]];
}

static void print_task(const struct cn_task *task, struct cn_text *out)
{
    if (task->name && *task->name)
        cn_text_printf(out, "%s ", task->name);
    cn_text_printf(out, "%" PRIu32, task->tid);
}

static bool is_kind(const struct cn_kinds *kinds, const struct cn_identity *id,
                    const char *name)
{
    return id->kind < kinds->count && strcmp(kinds->list[id->kind], name) == 0;
}

static uint64_t number_of(const struct cn_identity *id)
{
    return id->is_physical ? id->physical : id->logical;
}

/* Append an identity and the name of its thread: "RANK 0 render 4711" of rank, process and thread,
 * as a task of a recording is called. */
static void print_named(const struct cn_kinds *kinds,
                        const struct cn_identity_tuple *identity, const char *name,
                        struct cn_text *out)
{
    struct cn_identity_tuple rest = *identity;
    const struct cn_identity *last =
        identity->ids + (rest.count > 0 ? rest.count - 1 : 0);
    bool is_thread = *name && rest.count > 0 && is_kind(kinds, last, "THREAD");

    if (is_thread)
        rest.count--;
    if (is_thread && rest.count > 0 && is_kind(kinds, last - 1, "PROCESS"))
        rest.count--;
    cn_identity_print(&rest, kinds, out);
    if (*name)
        cn_text_printf(out, "%s%s", rest.count > 0 ? " " : "", name);
    if (is_thread)
        cn_text_printf(out, " %" PRIu64, number_of(last));
}

static const struct cn_identity *find_kind(const struct cn_identity_tuple *identity,
                                           const struct cn_kinds *kinds, const char *name)
{
    for (size_t i = 0; i < identity->count; i++)
        if (is_kind(kinds, &identity->ids[i], name))
            return &identity->ids[i];
    return NULL;
}

/* Append "GPU 0, stream 7"; false if the identity is not that of a stream. */
static bool print_stream(const struct cn_kinds *kinds,
                         const struct cn_identity_tuple *identity, struct cn_text *out)
{
    const struct cn_identity *device = find_kind(identity, kinds, "GPUDEVICE"),
                             *stream = find_kind(identity, kinds, "GPUSTREAM");

    if (!device || !stream)
        return false;
    cn_text_printf(out, "GPU %" PRIu64 ", stream %" PRIu64, number_of(device),
                   number_of(stream));
    return true;
}

/* Append the device of a stream, and whose work it does: "RANK 3 GPU 0", "GPU 0 of process 4711". */
static bool print_device(const struct cn_kinds *kinds,
                         const struct cn_identity_tuple *identity, uint64_t pid,
                         struct cn_text *out)
{
    const struct cn_identity *device = find_kind(identity, kinds, "GPUDEVICE"),
                             *rank = find_kind(identity, kinds, "RANK"),
                             *process = find_kind(identity, kinds, "PROCESS");

    if (!device || !find_kind(identity, kinds, "GPUSTREAM"))
        return false;
    if (rank)
        cn_text_printf(out, "RANK %" PRIu64 " ", number_of(rank));
    cn_text_printf(out, "GPU %" PRIu64, number_of(device));
    if (process || pid > 0)
        cn_text_printf(out, " of process %" PRIu64, process ? number_of(process) : pid);
    return true;
}

bool cn_served_is_stream(const struct cn_served *served, uint32_t index)
{
    struct cn_profile profile;
    struct cn_error ignored; /* what cannot be read is no stream */

    return cn_database_profile(served->db, index, &profile, &ignored) &&
           find_kind(&profile.identity, &served->db->kinds, "GPUSTREAM");
}

void cn_served_thread_label(const struct cn_served *served, uint32_t index,
                            struct cn_text *out)
{
    const struct cn_task *task = task_of(served, index);
    struct cn_profile profile;
    struct cn_error ignored; /* what cannot be read has no label */
    bool is_known = cn_database_profile(served->db, index, &profile, &ignored);

    if (is_known && print_stream(&served->db->kinds, &profile.identity, out))
        return;
    if (task)
        print_task(task, out);
    else if (is_known)
        print_named(&served->db->kinds, &profile.identity,
                    profile.name ? profile.name : "", out);
}

/* Ids of an identity that name the group: up to the rank, else the node. */
static size_t group_len(const struct cn_identity_tuple *identity,
                        const struct cn_kinds *kinds)
{
    for (size_t i = identity->count; i > 0; i--)
        if (is_kind(kinds, &identity->ids[i - 1], "RANK"))
            return i;
    return identity->count > 1 ? 1 : 0;
}

/* Append "gzip process 4711". */
static void print_process(const char *name, uint64_t pid, struct cn_text *out)
{
    cn_text_printf(out, "%s%sprocess %" PRIu64, name, *name ? " " : "", pid);
}

static void print_process_of_task(const struct cn_served *served,
                                  const struct cn_task *task, struct cn_text *out)
{
    const struct cn_recording *rec = served->recording;
    const char *name = "";

    for (uint32_t i = 0; i < rec->task_count; i++)
        if (rec->tasks[i].tid == task->pid && rec->tasks[i].name)
            name = rec->tasks[i].name;
    print_process(name, task->pid, out);
}

/* The process of an identity that is made of process and thread alone: threads of ranks belong to
 * their rank. */
static bool find_process(const struct cn_identity_tuple *identity,
                         const struct cn_kinds *kinds, uint64_t *pid)
{
    if (identity->count == 0 || identity->count > 2 ||
        !is_kind(kinds, &identity->ids[0], "PROCESS"))
        return false;
    *pid = number_of(&identity->ids[0]);
    return true;
}

void cn_served_name_processes(const struct cn_served *served, struct cn_map *processes)
{
    for (uint32_t i = 1; i < served->db->profile_count; i++) {
        struct cn_profile profile;
        struct cn_error ignored; /* what cannot be read has no name */
        uint64_t pid;

        if (!cn_database_profile(served->db, i, &profile, &ignored) || !profile.name ||
            !find_process(&profile.identity, &served->db->kinds, &pid))
            continue;
        const struct cn_identity *last =
            &profile.identity.ids[profile.identity.count - 1];
        uint32_t *named = cn_map_at(processes, pid, i);
        if (number_of(last) == pid)
            *named = i;
    }
}

/* False if a thread belongs to no process. */
static bool print_process_of_thread(const struct cn_served *served,
                                    const struct cn_profile *profile,
                                    const struct cn_map *processes, struct cn_text *out)
{
    struct cn_profile main_thread;
    struct cn_error ignored;
    uint64_t pid;

    if (!find_process(&profile->identity, &served->db->kinds, &pid))
        return false;
    uint32_t named = cn_map_find(processes, pid, CN_NONE);
    bool has_name = named != CN_NONE &&
                    cn_database_profile(served->db, named, &main_thread, &ignored);
    print_process(has_name ? main_thread.name : "", pid, out);
    return true;
}

void cn_served_thread_group(const struct cn_served *served, uint32_t index,
                            const struct cn_profile *profile,
                            const struct cn_map *processes, struct cn_text *group,
                            struct cn_text *name)
{
    const struct cn_task *task = task_of(served, index);
    struct cn_identity_tuple part = profile->identity;

    if (print_device(&served->db->kinds, &part, task ? task->pid : 0, group)) {
        (void)print_stream(&served->db->kinds, &part, name);
        return;
    }
    if (task) {
        print_process_of_task(served, task, group);
        print_task(task, name);
        return;
    }
    size_t len = group_len(&part, &served->db->kinds);
    part.count = len;
    if (len != 1 || !print_process_of_thread(served, profile, processes, group))
        cn_identity_print(&part, &served->db->kinds, group);
    part.count = profile->identity.count - len;
    memmove(part.ids, part.ids + len, part.count * sizeof(*part.ids));
    print_named(&served->db->kinds, &part, profile->name ? profile->name : "", name);
}

/* True if the only other task of its process that was there before it is its parent: who
 * else started a thread is not recorded. */
static bool is_creator_known(const struct cn_recording *rec, const struct cn_task *task)
{
    for (uint32_t i = 0; i < rec->task_count && !task->is_fork; i++)
        if (rec->tasks[i].pid == task->pid && i != task->parent &&
            rec->tasks[i].time_ns < task->time_ns)
            return false;
    return task->parent != CN_NONE;
}

bool cn_served_thread_creator(const struct cn_served *served, uint32_t index,
                              uint32_t *creator, uint64_t *start_ns)
{
    const struct cn_task *task = task_of(served, index);

    /* Tasks of traces are tracks of spans: none starts another one. */
    if (!task || served->opened.is_of_traces ||
        !is_creator_known(served->recording, task))
        return false;
    uint64_t begin_ns = cn_recording_begin_ns(served->recording);
    for (size_t i = 0; i < served->profiled_count; i++) {
        if (served->profiled_tasks[i] == task->parent && task->time_ns >= begin_ns) {
            *creator = (uint32_t)i + 1;
            *start_ns = task->time_ns - begin_ns;
            return true;
        }
    }
    return false;
}
