#include "model/calls/recording_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/sort.h"
#include "base/text.h"

enum { BATCH = 1024 };

/* The calls of one task. */
struct memory_calls {
    struct cn_call *list;
    size_t count, capacity;
    struct cn_text data;
    struct cn_task_session *sessions;
    size_t session_count, session_capacity;
};

struct memory_mappings {
    struct cn_mapping *list;
    size_t count, capacity;
};

struct cn_memory_recording {
    struct cn_recording rec; /* first: readers have a pointer to it */
    struct cn_task *tasks;
    struct memory_calls *calls; /* of each task */
    struct cn_session *sessions;
    struct memory_mappings *mappings; /* of each session */
    struct cn_call_module *modules;
    struct cn_call_function *functions;
    struct cn_fact *facts;
    struct cn_event_name *event_names;
    struct cn_flow *flows;
    struct cn_caller_path *paths;
    struct cn_moved_call *moved;
    size_t path_capacity, moved_capacity;
    size_t task_capacity, calls_capacity, session_capacity, mappings_capacity;
    size_t module_capacity, function_capacity, fact_capacity, event_name_capacity,
        flow_capacity;
    bool is_scattered; /* functions were added to a module that is not the last one */
    bool is_finished;
};

static const struct cn_recording_ops memory_ops;

struct cn_memory_recording *cn_memory_recording_new(void)
{
    struct cn_memory_recording *m = cn_alloc(1, sizeof(*m));

    m->rec.ops = &memory_ops;
    m->rec.path = m->rec.options = "";
    m->rec.version = 4;
    m->rec.header_len = 40;
    m->rec.max_stack = 1024;
    return m;
}

void cn_memory_recording_free(struct cn_memory_recording *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->rec.task_count; i++) {
        free(m->calls[i].list);
        free(m->calls[i].sessions);
        cn_text_done(&m->calls[i].data);
    }
    for (uint32_t i = 0; i < m->rec.session_count; i++)
        free(m->mappings[i].list);
    free(m->tasks);
    free(m->calls);
    free(m->sessions);
    free(m->mappings);
    free(m->modules);
    free(m->functions);
    free(m->facts);
    free(m->event_names);
    free(m->flows);
    free(m->paths);
    free(m->moved);
    cn_arena_done(&m->rec.arena);
    free(m);
}

static const char *copy(struct cn_memory_recording *m, const char *text)
{
    return cn_arena_strdup(&m->rec.arena, text ? text : "");
}

uint32_t cn_memory_recording_add_module(struct cn_memory_recording *m, const char *path,
                                        const char *build_id)
{
    const char *copied = copy(m, path);

    assert(!m->is_finished);
    CN_GROW(m->modules, m->rec.module_count, m->module_capacity);
    m->modules[m->rec.module_count] = (struct cn_call_module){
        .path = copied,
        .name = cn_path_name(copied),
        .build_id = copy(m, build_id),
    };
    return m->rec.module_count++;
}

static struct cn_argument_specs copy_specs(struct cn_memory_recording *m,
                                           struct cn_argument_specs specs)
{
    if (specs.count == 0)
        return specs;
    struct cn_argument_spec *list =
        cn_arena_alloc(&m->rec.arena, specs.count, sizeof(*list));
    memcpy(list, specs.list, specs.count * sizeof(*list));
    for (size_t i = 0; i < specs.count; i++) {
        list[i].type_name = copy(m, list[i].type_name);
        list[i].text = copy(m, list[i].text);
    }
    return (struct cn_argument_specs){list, specs.count};
}

uint32_t cn_memory_recording_add_function(struct cn_memory_recording *m,
                                          struct cn_call_function function)
{
    struct cn_call_module *module = &m->modules[function.module];

    assert(!m->is_finished && function.module < m->rec.module_count);
    m->is_scattered |= function.module + 1 < m->rec.module_count;
    function.raw_name = copy(m, function.raw_name ? function.raw_name : function.name);
    function.name = copy(m, function.name);
    function.file = copy(m, function.file);
    function.arguments = copy_specs(m, function.arguments);
    function.result = copy_specs(m, function.result);
    CN_GROW(m->functions, m->rec.function_count, m->function_capacity);
    m->functions[m->rec.function_count] = function;
    module->function_count++;
    return m->rec.function_count++;
}

uint32_t cn_memory_recording_add_session(struct cn_memory_recording *m, const char *sid,
                                         uint32_t pid, uint64_t time_ns,
                                         const char *exename)
{
    assert(!m->is_finished);
    CN_GROW(m->sessions, m->rec.session_count, m->session_capacity);
    CN_GROW(m->mappings, m->rec.session_count, m->mappings_capacity);
    m->mappings[m->rec.session_count] = (struct memory_mappings){0};
    m->sessions[m->rec.session_count] = (struct cn_session){
        .sid = copy(m, sid),
        .pid = pid,
        .time_ns = time_ns,
        .exename = copy(m, exename),
    };
    return m->rec.session_count++;
}

void cn_memory_recording_add_mapping(struct cn_memory_recording *m, uint32_t session,
                                     struct cn_mapping mapping)
{
    struct memory_mappings *mappings = &m->mappings[session];

    assert(session < m->rec.session_count && mapping.module < m->rec.module_count);
    CN_PUSH(mappings->list, mappings->count, mappings->capacity, mapping);
}

uint32_t cn_memory_recording_add_task(struct cn_memory_recording *m, struct cn_task task)
{
    assert(!m->is_finished &&
           (m->rec.task_count == 0 || m->tasks[m->rec.task_count - 1].tid < task.tid));
    CN_GROW(m->tasks, m->rec.task_count, m->task_capacity);
    CN_GROW(m->calls, m->rec.task_count, m->calls_capacity);
    m->calls[m->rec.task_count] = (struct memory_calls){0};
    task.name = copy(m, task.name);
    task.has_file = true;
    m->tasks[m->rec.task_count] = task;
    return m->rec.task_count++;
}

void cn_memory_recording_add_task_session(struct cn_memory_recording *m, uint32_t task,
                                          uint64_t from_ns, uint32_t session)
{
    struct memory_calls *calls = &m->calls[task];

    assert(task < m->rec.task_count && session < m->rec.session_count);
    CN_PUSH(calls->sessions, calls->session_count, calls->session_capacity,
            (struct cn_task_session){calls->session_count == 0 ? 0 : from_ns, session});
}

void cn_memory_recording_add_fact(struct cn_memory_recording *m, const char *key,
                                  const char *value)
{
    CN_PUSH(m->facts, m->rec.fact_count, m->fact_capacity,
            (struct cn_fact){copy(m, key), copy(m, value)});
}

void cn_memory_recording_add_event_name(struct cn_memory_recording *m, uint64_t id,
                                        const char *name)
{
    CN_PUSH(m->event_names, m->rec.event_name_count, m->event_name_capacity,
            (struct cn_event_name){id, copy(m, name)});
}

void cn_memory_recording_set_big_endian(struct cn_memory_recording *m)
{
    m->rec.is_big_endian = true;
}

void cn_memory_recording_add_call(struct cn_memory_recording *m, uint32_t task,
                                  struct cn_call call, struct cn_bytes data)
{
    struct memory_calls *calls = &m->calls[task];

    assert(!m->is_finished && task < m->rec.task_count);
    assert(calls->data.len <= UINT32_MAX - data.len);
    if (!(call.flags & (CN_CALL_COVERED | CN_CALL_HAS_SELF))) {
        call.data_off = (uint32_t)calls->data.len;
        call.data_len = (uint32_t)data.len;
    }
    if (data.len > 0)
        cn_text_add(&calls->data, (const char *)data.ptr, data.len);
    CN_PUSH(calls->list, calls->count, calls->capacity, call);
}

bool cn_memory_recording_add_flow(struct cn_memory_recording *m, struct cn_flow flow)
{
    assert(!m->is_finished && flow.from_task < m->rec.task_count &&
           flow.to_task < m->rec.task_count);
    if (m->rec.flow_count == CN_FLOW_MAX)
        return false;
    flow.name = *flow.name ? copy(m, flow.name) : "";
    CN_PUSH(m->flows, m->rec.flow_count, m->flow_capacity, flow);
    return true;
}

uint32_t cn_memory_recording_add_path(struct cn_memory_recording *m,
                                      struct cn_caller_path path)
{
    CN_PUSH(m->paths, m->rec.path_count, m->path_capacity, path);
    return m->rec.path_count - 1;
}

void cn_memory_recording_add_moved(struct cn_memory_recording *m,
                                   struct cn_moved_call call)
{
    CN_PUSH(m->moved, m->rec.moved_count, m->moved_capacity, call);
}

/* Put the functions of each module next to each other. */
static void gather_functions(struct cn_memory_recording *m)
{
    struct cn_call_function *gathered =
        cn_alloc(m->rec.function_count, sizeof(*gathered));
    uint32_t *place = cn_alloc(m->rec.function_count, sizeof(*place));
    uint32_t *next = cn_alloc(m->rec.module_count, sizeof(*next));

    for (uint32_t i = 0; i < m->rec.module_count; i++)
        next[i] = m->modules[i].first_function;
    for (uint32_t i = 0; i < m->rec.function_count; i++) {
        place[i] = next[m->functions[i].module]++;
        gathered[place[i]] = m->functions[i];
    }
    free(m->functions);
    m->functions = gathered;
    for (uint32_t i = 0; i < m->rec.task_count; i++)
        for (size_t k = 0; k < m->calls[i].count; k++) {
            struct cn_call *call = &m->calls[i].list[k];

            if (call->kind <= CN_CALL_EXIT && call->function != CN_NONE)
                call->function = place[call->function];
        }
    for (uint32_t i = 0; i < m->rec.path_count; i++)
        if (m->paths[i].function != CN_NONE)
            m->paths[i].function = place[m->paths[i].function];
    free(next);
    free(place);
}

struct cn_recording *cn_memory_recording_finish(struct cn_memory_recording *m)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < m->rec.module_count; i++) {
        m->modules[i].first_function = first;
        first += m->modules[i].function_count;
    }
    if (m->is_scattered)
        gather_functions(m);
    for (uint32_t i = 0; i < m->rec.task_count; i++) {
        struct cn_task *task = &m->tasks[i];

        task->sessions = m->calls[i].sessions;
        task->session_count = m->calls[i].session_count;
        task->has_first = m->calls[i].count > 0;
        task->first_ns = task->has_first ? m->calls[i].list[0].time_ns : 0;
        task->data_len = m->calls[i].count * 16 + m->calls[i].data.len;
    }
    for (uint32_t i = 0; i < m->rec.session_count; i++) {
        m->sessions[i].mappings = m->mappings[i].list;
        m->sessions[i].mapping_count = m->mappings[i].count;
    }
    m->rec.tasks = m->tasks;
    m->rec.sessions = m->sessions;
    m->rec.modules = m->modules;
    m->rec.functions = m->functions;
    m->rec.facts = m->facts;
    m->rec.event_names = m->event_names;
    m->rec.flows = m->flows;
    m->rec.paths = m->paths;
    m->rec.moved = m->moved;
    if (m->rec.moved_count > 0)
        CN_SORT(m->moved, m->rec.moved_count, CN_UP(struct cn_moved_call, task),
                CN_UP(struct cn_moved_call, time_ns), CN_UP(struct cn_moved_call, path));
    m->is_finished = true;
    return &m->rec;
}

/* Reading. */

struct memory_stream {
    struct cn_call_stream base;
    size_t next;
    struct cn_time_range range;
};

static bool stream_open(const struct cn_recording *rec, uint32_t task,
                        struct cn_time_range range, struct cn_call_stream **out,
                        struct cn_error *err)
{
    struct memory_stream *s = cn_alloc(1, sizeof(*s));

    (void)err;
    s->base = (struct cn_call_stream){.rec = rec, .task = task};
    s->range = range;
    *out = &s->base;
    return true;
}

static enum cn_step stream_next(struct cn_call_stream *stream, struct cn_call_batch *out,
                                struct cn_error *err)
{
    struct memory_stream *s = (struct memory_stream *)stream;
    const struct cn_memory_recording *m = (const struct cn_memory_recording *)s->base.rec;
    const struct memory_calls *calls = &m->calls[s->base.task];
    size_t begin, end;

    (void)err;
    while (s->next < calls->count && calls->list[s->next].time_ns < s->range.first_ns)
        s->next++;
    begin = end = s->next;
    while (end < calls->count && end - begin < BATCH &&
           calls->list[end].time_ns <= s->range.last_ns)
        end++;
    if (end == begin)
        return CN_END;
    s->next = end;
    *out = (struct cn_call_batch){
        .calls = calls->list + begin,
        .count = end - begin,
        .data = {(const uint8_t *)cn_text_str(&calls->data), calls->data.len},
    };
    return CN_ITEM;
}

static void stream_close(struct cn_call_stream *stream)
{
    free(stream);
}

static uint32_t find_function(const struct cn_recording *rec, uint32_t task,
                              uint64_t time_ns, uint64_t address)
{
    const struct cn_session *session = cn_recording_session_at(rec, task, time_ns);
    size_t i = session ? session->mapping_count : 0;
    const struct cn_mapping *mapping = NULL;

    while (i-- > 0 && !mapping)
        if (session->mappings[i].time_ns <= time_ns &&
            address >= session->mappings[i].begin && address < session->mappings[i].end)
            mapping = &session->mappings[i];
    if (!mapping)
        return CN_NONE;
    const struct cn_call_module *module = &rec->modules[mapping->module];
    for (uint32_t k = module->first_function + module->function_count;
         k-- > module->first_function;) {
        const struct cn_call_function *function = &rec->functions[k];
        uint64_t offset = address - mapping->begin;

        if (offset >= function->offset && offset - function->offset < function->size)
            return k;
    }
    return CN_NONE;
}

static void close_recording(struct cn_recording *rec)
{
    cn_memory_recording_free((struct cn_memory_recording *)rec);
}

static const struct cn_recording_ops memory_ops = {
    .stream_open = stream_open,
    .stream_next = stream_next,
    .stream_close = stream_close,
    .find_function = find_function,
    .close = close_recording,
};
