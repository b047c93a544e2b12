/* Ranks from recordings: the calls of MPI, exactly when they were, with their arguments. */

#include <stdlib.h>

#include "analyze/calls/defaults.h"
#include "analyze/calls/feed.h"
#include "analyze/calls/stack.h"
#include "analyze/mpi/builder.h"
#include "base/alloc.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"

struct calls_reader {
    struct cn_mpi_run *run;
    struct cn_all_calls all;
    uint32_t *name_of; /* by function of the recording; CN_NONE: not yet */
    uint32_t task;
    struct cn_call_stack stack;
    struct cn_mpi_builder builder;
    uint64_t last_ns, lost;
    struct cn_map comms; /* numbers of communicators of the task */
    uint32_t comm_count; /* without that of all ranks */
};

/* The best thread of a process so far. */
struct process_calls {
    uint32_t pid;
    struct cn_mpi_builder builder;
    struct cn_error err; /* text is empty if the process was read */
    uint64_t lost;
};

static uint32_t name_of(struct calls_reader *r, const struct cn_call *call)
{
    char buffer[CN_CALL_NAME_MAX];
    const char *name =
        cn_call_name(r->all.query.rec, call->function, call->address, buffer);

    if (call->function >= r->all.query.rec->function_count)
        return cn_names_add(&r->run->names, name);
    if (r->name_of[call->function] == CN_NONE)
        r->name_of[call->function] = cn_names_add(&r->run->names, name);
    return r->name_of[call->function];
}

enum { WORLD_OF_MPICH = 0x44000000 };

/* True for the communicator of all ranks: a number of MPICH, the address of a variable of Open MPI. */
static bool is_world(struct calls_reader *r, const struct cn_call *call,
                     const struct cn_call_values *values,
                     const struct cn_call_value *value)
{
    struct cn_call_value as_pointer = *value;
    struct cn_argument_spec spec = *value->spec;
    struct cn_text text = {0};
    bool result;

    if (cn_call_value_number(values, value) == WORLD_OF_MPICH) {
        r->run->request_len = 4;
        return true;
    }
    spec.format = 'p';
    as_pointer.spec = &spec;
    cn_call_value_print(r->all.query.rec, r->task, call->time_ns, values, &as_pointer,
                        &text);
    result = strstr(cn_text_str(&text), "mpi_comm_world") != NULL;
    cn_text_done(&text);
    if (result)
        r->run->request_len = 8;
    return result;
}

/* Addresses differ from rank to rank: communicators are numbered. */
static uint16_t comm_of(struct calls_reader *r, const struct cn_call *call,
                        const struct cn_call_values *values,
                        const struct cn_call_value *value)
{
    uint32_t *number = cn_map_at(&r->comms, cn_call_value_number(values, value), CN_NONE);

    if (*number == CN_NONE)
        *number = is_world(r, call, values, value) ? 0 : ++r->comm_count;
    return *number < CN_MPI_COMM_MANY ? (uint16_t)*number : CN_MPI_COMM_MANY;
}

static void take_value(struct calls_reader *r, const struct cn_call *call,
                       const struct cn_call_values *from,
                       const struct cn_call_value *value,
                       const struct cn_mpi_operation *operation, uint16_t *comm,
                       struct cn_mpi_values *out)
{
    for (unsigned i = 0; i < CN_MPI_ARGUMENTS; i++) {
        if (operation->arguments[i] == 0 || operation->arguments[i] != value->spec->index)
            continue;
        if (i == CN_MPI_COMM) {
            *comm = comm_of(r, call, from, value);
            continue;
        }
        out->known |= (uint8_t)(1U << i);
        if (i == CN_MPI_REQUEST)
            out->request = cn_call_value_number(from, value);
        else
            out->numbers[i] = (int32_t)cn_call_value_number(from, value);
    }
}

static void add_values(struct calls_reader *r, const struct cn_call *call,
                       const struct cn_call_batch *batch, const struct cn_mpi_path *path)
{
    struct cn_mpi_values values = {0};
    struct cn_call_values it;
    struct cn_call_value value;
    uint16_t comm = CN_MPI_COMM_UNKNOWN;

    if (!path->operation || !path->is_c || !(call->flags & CN_CALL_HAS_DATA))
        return;
    cn_call_values_begin(&it, r->all.query.rec, batch, call);
    while (cn_call_values_next(&it, &value))
        if (!value.spec->is_float && value.spec->index > 0)
            take_value(r, call, &it, &value, path->operation, &comm, &values);
    cn_mpi_builder_add_values(&r->builder, comm, &values);
}

static uint32_t top_path(const struct calls_reader *r)
{
    return r->stack.count > 0 ? r->stack.frames[r->stack.count - 1].slot : CN_NONE;
}

static void take_call(struct calls_reader *r, const struct cn_call *call,
                      const struct cn_call_batch *batch)
{
    struct cn_call_end ended;
    uint32_t path;

    if (call->kind == CN_CALL_LOST)
        r->lost += call->address;
    if (call->kind != CN_CALL_ENTER && call->kind != CN_CALL_EXIT)
        return;
    r->last_ns = call->time_ns > r->last_ns ? call->time_ns : r->last_ns;
    if (call->kind == CN_CALL_EXIT) {
        cn_call_stack_leave_quick(&r->stack, call, &ended);
        cn_mpi_builder_move(&r->builder, top_path(r), r->last_ns);
        return;
    }
    (void)cn_call_stack_enter_quick(&r->stack, call, batch);
    path = r->stack.count > 1 ? r->stack.frames[r->stack.count - 2].slot : CN_NONE;
    /* Calls without exits ended when this one began. */
    cn_mpi_builder_move(&r->builder, path, r->last_ns);
    path = cn_mpi_run_path(r->run, path, name_of(r, call));
    r->stack.frames[r->stack.count - 1].slot = path;
    cn_mpi_builder_move(&r->builder, path, r->last_ns);
    if (r->run->paths[path].mpi == path)
        add_values(r, call, batch, &r->run->paths[path]);
}

static bool read_task(struct calls_reader *r, uint32_t task, struct cn_error *err)
{
    struct cn_call_feed feed = {0};
    struct cn_call_batch batch;
    enum cn_step step = CN_FAIL;
    bool is_on = true;

    r->task = task;
    r->last_ns = r->lost = 0;
    r->comm_count = 0;
    cn_map_done(&r->comms);
    cn_mpi_builder_init(&r->builder, r->run);
    cn_call_stack_init(&r->stack, r->all.query.rec, &r->all.filter, task, false, &is_on);
    if (cn_call_feed_open(&feed, &r->all.query, task, err)) {
        while ((step = cn_call_feed_next(&feed, &batch, err)) == CN_ITEM)
            for (size_t i = 0; i < batch.count; i++)
                take_call(r, &batch.calls[i], &batch);
        cn_call_feed_close(&feed);
    }
    cn_mpi_builder_end(&r->builder, r->last_ns);
    cn_call_stack_done(&r->stack);
    return step == CN_END;
}

/* Put a thread in place of that of its process that has fewer calls. */
static void take_task(struct calls_reader *r, struct process_calls *process, bool is_read,
                      const struct cn_error *err)
{
    if (!is_read)
        process->err = *err;
    process->lost += r->lost;
    if (r->builder.rank.seen_calls > process->builder.rank.seen_calls) {
        cn_mpi_builder_done(&process->builder);
        process->builder = r->builder;
    } else {
        cn_mpi_builder_done(&r->builder);
    }
}

static struct process_calls *read_processes(struct cn_mpi_run *run,
                                            const struct cn_recording *rec, size_t *count)
{
    struct calls_reader r = {.run = run};
    struct process_calls *list = cn_alloc((size_t)rec->task_count + 1, sizeof(*list));
    struct cn_error err = {0};
    struct cn_map at = {0};

    *count = 0;
    if (!cn_all_calls_init(&r.all, rec, &err)) {
        list[(*count)++].err = err;
        cn_all_calls_done(&r.all);
        return list;
    }
    r.all.query.is_raw = true;
    r.name_of = cn_alloc(rec->function_count, sizeof(*r.name_of));
    for (uint32_t i = 0; i < rec->function_count; i++)
        r.name_of[i] = CN_NONE;
    for (uint32_t i = 0; i < r.all.query.task_count; i++) {
        uint32_t task = r.all.query.tasks[i];
        struct process_calls *process =
            &list[*cn_map_at(&at, rec->tasks[task].pid, (uint32_t)*count)];

        *count += process == &list[*count];
        process->pid = rec->tasks[task].pid;
        bool is_read = read_task(&r, task, &err);
        take_task(&r, process, is_read, &err);
    }
    free(r.name_of);
    cn_map_done(&at);
    cn_map_done(&r.comms);
    cn_all_calls_done(&r.all);
    return list;
}

static void take_process(struct cn_mpi_run *run, struct process_calls *process,
                         uint32_t number)
{
    struct cn_text why = {0};

    if (process->err.kind != CN_ERR_NONE) {
        run->is_damaged = true;
        cn_mpi_run_add_unknown(run, number, process->err.text);
    } else if (process->lost > 0) {
        cn_text_printf(&why, "%llu records were lost", (unsigned long long)process->lost);
        cn_mpi_run_add_unknown(run, number, cn_text_str(&why));
    } else if (process->builder.run) {
        cn_mpi_builder_take(&process->builder, number);
    } else {
        cn_mpi_run_add_unknown(run, number, "no call of MPI is in its data");
    }
    cn_mpi_builder_done(&process->builder);
    cn_text_done(&why);
}

void cn_mpi_run_add_calls(struct cn_mpi_run *run, uint32_t number,
                          const struct cn_recording *rec)
{
    struct process_calls none = {0};
    size_t count, best = 0;
    struct process_calls *list = read_processes(run, rec, &count);

    for (size_t i = 1; i < count; i++)
        if (list[i].builder.rank.seen_calls > list[best].builder.rank.seen_calls)
            best = i;
    take_process(run, count > 0 ? &list[best] : &none, number);
    for (size_t i = 0; i < count; i++)
        cn_mpi_builder_done(&list[i].builder);
    free(list);
}

static int by_pid(const void *a, const void *b)
{
    const struct process_calls *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

void cn_mpi_run_add_processes(struct cn_mpi_run *run, const struct cn_recording *rec)
{
    size_t count;
    struct process_calls *list = read_processes(run, rec, &count);

    if (count > 1)
        qsort(list, count, sizeof(*list), by_pid);
    for (size_t i = 0; i < count; i++)
        if (list[i].builder.rank.seen_calls > 0 || list[i].err.kind != CN_ERR_NONE)
            take_process(run, &list[i], (uint32_t)run->count);
        else
            cn_mpi_builder_done(&list[i].builder);
    if (run->count > 1)
        cn_text_printf(&run->notes,
                       "the numbers of ranks are not recorded: processes are numbered by "
                       "their ids; mpirun -n %zu cairn record records them\n",
                       run->count);
    free(list);
}
