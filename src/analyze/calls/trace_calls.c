#include "analyze/calls/trace_calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "model/calls/recording_memory.h"
#include "model/traces/trace.h"

enum { FUNCTION_LEN = 16 };

/* Traces one after the other. */
struct lane {
    uint32_t task;
    uint64_t end_ns;
};

struct cn_trace_calls {
    struct cn_memory_recording *recording;
    uint32_t module, session;
    struct cn_names names; /* of functions, numbered as the recording's */
    const struct cn_words *words;
    uint64_t born_ns;
    struct cn_map functions; /* method word -> function, of `words` */
    struct lane *lanes;
    size_t lane_count, lane_capacity;
    uint64_t *ends_ns; /* of open calls, as they will be */
    size_t end_capacity;
};

struct cn_trace_calls *cn_trace_calls_new(void)
{
    struct cn_trace_calls *calls = cn_alloc(1, sizeof(*calls));

    calls->recording = cn_memory_recording_new();
    calls->module = cn_memory_recording_add_module(calls->recording, "traces", "");
    calls->session = cn_memory_recording_add_session(calls->recording, "0000000000000001",
                                                     1, 0, "traces");
    return calls;
}

void cn_trace_calls_free(struct cn_trace_calls *calls)
{
    if (!calls)
        return;
    cn_memory_recording_free(calls->recording);
    cn_names_done(&calls->names);
    cn_map_done(&calls->functions);
    free(calls->lanes);
    free(calls->ends_ns);
    free(calls);
}

/* Methods of the same name are one function, whichever dictionary they come from. */
static uint32_t add_function(struct cn_trace_calls *calls, const struct cn_words *words,
                             uint32_t method)
{
    struct cn_text name = {0};
    uint32_t function, before = (uint32_t)calls->names.count;

    if (method == 0)
        cn_text_str_add(&name, "?");
    else
        cn_words_print_method_name(words, method, &name);
    function = cn_names_add(&calls->names, cn_text_str(&name));
    if (function == before)
        (void)cn_memory_recording_add_function(
            calls->recording, (struct cn_call_function){
                                  .name = calls->names.list[function],
                                  .raw_name = calls->names.list[function],
                                  .module = calls->module,
                                  .type = 'T',
                                  .offset = (uint64_t)function * FUNCTION_LEN,
                                  .size = FUNCTION_LEN,
                                  .file = "",
                              });
    cn_text_done(&name);
    return function;
}

static uint32_t function_of(struct cn_trace_calls *calls, const struct cn_trace *trace,
                            uint32_t method)
{
    uint32_t *known;

    if (calls->words != trace->words || calls->born_ns != trace->words->born_ns) {
        cn_map_done(&calls->functions);
        calls->words = trace->words;
        calls->born_ns = trace->words->born_ns;
    }
    known = cn_map_at(&calls->functions, method, CN_NONE);
    if (*known == CN_NONE)
        *known = add_function(calls, trace->words, method);
    return *known;
}

static struct lane *find_lane(struct cn_trace_calls *calls, uint64_t begin_ns)
{
    uint32_t tid = (uint32_t)calls->lane_count + 1;
    uint32_t task;

    for (size_t i = 0; i < calls->lane_count; i++)
        if (calls->lanes[i].end_ns <= begin_ns)
            return &calls->lanes[i];
    calls->lanes = cn_grow(calls->lanes, calls->lane_count, &calls->lane_capacity,
                           sizeof(*calls->lanes));
    task = cn_memory_recording_add_task(calls->recording,
                                        (struct cn_task){.tid = tid,
                                                         .pid = 1,
                                                         .parent = CN_NONE,
                                                         .name = "traces",
                                                         .time_ns = begin_ns,
                                                         .first_ns = begin_ns,
                                                         .has_session = tid == 1,
                                                         .has_file = true});
    cn_memory_recording_add_task_session(calls->recording, task, 0, calls->session);
    calls->lanes[calls->lane_count] = (struct lane){.task = task};
    return &calls->lanes[calls->lane_count++];
}

static void add_call(struct cn_trace_calls *calls, uint32_t task, enum cn_call_kind kind,
                     uint64_t time_ns, uint32_t function, uint32_t depth)
{
    static const struct cn_bytes nothing = {(const uint8_t *)"", 0};

    cn_memory_recording_add_call(calls->recording, task,
                                 (struct cn_call){
                                     .time_ns = time_ns,
                                     .address = (uint64_t)function * FUNCTION_LEN,
                                     .function = function,
                                     .depth = (uint16_t)depth,
                                     .kind = (uint8_t)kind,
                                 },
                                 nothing);
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

struct laying {
    struct cn_trace_calls *calls;
    const struct cn_trace *trace;
    uint32_t task;
    uint64_t begin_ns, now_ns; /* now: the last event */
    uint32_t open, depth;      /* the innermost open call */
};

static void leave(struct laying *laying)
{
    const struct cn_trace_node *node = &laying->trace->nodes[laying->open];

    laying->depth--;
    laying->now_ns =
        clamp(laying->calls->ends_ns[laying->depth], laying->now_ns, UINT64_MAX);
    add_call(laying->calls, laying->task, CN_CALL_EXIT, laying->now_ns,
             function_of(laying->calls, laying->trace, node->method), laying->depth);
    laying->open = node->parent;
}

static void enter(struct laying *laying, uint32_t i)
{
    const struct cn_trace_node *node = &laying->trace->nodes[i];
    uint64_t limit_ns =
        laying->depth > 0 ? laying->calls->ends_ns[laying->depth - 1] : UINT64_MAX;
    uint64_t start_ns = laying->begin_ns + node->start_ns;

    laying->calls->ends_ns =
        cn_grow(laying->calls->ends_ns, laying->depth, &laying->calls->end_capacity,
                sizeof(*laying->calls->ends_ns));
    laying->now_ns = clamp(start_ns, laying->now_ns,
                           limit_ns > laying->now_ns ? limit_ns : laying->now_ns);
    laying->calls->ends_ns[laying->depth] =
        clamp(start_ns + node->duration_ns, laying->now_ns,
              limit_ns > laying->now_ns ? limit_ns : laying->now_ns);
    add_call(laying->calls, laying->task, CN_CALL_ENTER, laying->now_ns,
             function_of(laying->calls, laying->trace, node->method), laying->depth);
    laying->open = i;
    laying->depth++;
}

void cn_trace_calls_add(struct cn_trace_calls *calls, const struct cn_trace *trace)
{
    struct laying laying = {.calls = calls, .trace = trace, .open = CN_NONE};
    struct lane *lane;

    if (trace->node_count == 0)
        return;
    laying.begin_ns = trace->span_count > 0 ? trace->spans[0].time_ns : trace->clock_ns;
    laying.now_ns = laying.begin_ns;
    lane = find_lane(calls, laying.begin_ns);
    laying.task = lane->task;
    for (uint32_t i = 0; i < trace->node_count; i++) {
        while (laying.open != trace->nodes[i].parent)
            leave(&laying);
        enter(&laying, i);
    }
    while (laying.open != CN_NONE)
        leave(&laying);
    lane->end_ns = laying.now_ns;
}

struct cn_recording *cn_trace_calls_finish(struct cn_trace_calls *calls)
{
    struct cn_recording *recording;

    cn_memory_recording_add_mapping(
        calls->recording, calls->session,
        (struct cn_mapping){0, (uint64_t)calls->names.count * FUNCTION_LEN + 1, 0,
                            calls->module, "r-xp"});
    recording = cn_memory_recording_finish(calls->recording);
    calls->recording = NULL;
    return recording;
}
