#include "analyze/calls/trace_calls.h"

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

struct open_call {
    uint32_t function;
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
    size_t lane_count, lane_capacity, lane; /* lane: the one that grows */
    struct open_call *open;                 /* outermost first */
    size_t depth, open_capacity;
    uint64_t now_ns; /* of the last event */
    bool has_attributes;
    struct cn_text note;
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
    free(calls->open);
    cn_text_done(&calls->note);
    free(calls);
}

void cn_trace_calls_show_attributes(struct cn_trace_calls *calls)
{
    calls->has_attributes = true;
}

/* Methods of the same name are one function, whichever dictionary they come from. */
static uint32_t add_function(struct cn_trace_calls *calls, const struct cn_words *words,
                             uint32_t method)
{
    static const struct cn_argument_spec attributes = {
        .format = 's', .index = 1, .type_name = "", .text = "arg1/s"};
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
                                  .arguments = {&attributes, calls->has_attributes},
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

/* The first lane that is free at a time. */
static size_t find_lane(struct cn_trace_calls *calls, uint64_t begin_ns)
{
    uint32_t tid = (uint32_t)calls->lane_count + 1;
    uint32_t task;

    for (size_t i = 0; i < calls->lane_count; i++)
        if (calls->lanes[i].end_ns <= begin_ns)
            return i;
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
    return calls->lane_count++;
}

static void add_call(struct cn_trace_calls *calls, enum cn_call_kind kind,
                     uint32_t function)
{
    struct cn_bytes data = {(const uint8_t *)cn_text_str(&calls->note), calls->note.len};

    cn_memory_recording_add_call(calls->recording, calls->lanes[calls->lane].task,
                                 (struct cn_call){
                                     .time_ns = calls->now_ns,
                                     .address = (uint64_t)function * FUNCTION_LEN,
                                     .function = function,
                                     .depth = (uint16_t)calls->depth,
                                     .kind = (uint8_t)kind,
                                     .flags = data.len > 0 ? CN_CALL_HAS_DATA : 0,
                                 },
                                 data);
    cn_text_clear(&calls->note);
}

/* "uri = /items, threw IOException: timeout" as a string argument: its length in 16 bits,
 * then the text, padded to 4 bytes. */
static void note_attributes(struct cn_text *note, const struct cn_trace *trace,
                            uint32_t node)
{
    enum { LEN_MAX = 65000 };
    const struct cn_words *words = trace->words;
    uint32_t exception = trace->nodes[node].exception;
    const char *separator = "";
    size_t len;

    cn_text_fill(note, '\0', 2);
    for (uint32_t a = trace->nodes[node].first_attribute; a != CN_NONE;
         a = trace->attributes[a].next) {
        cn_text_str_add(note, separator);
        cn_words_print(words, trace->attributes[a].key, note);
        cn_text_str_add(note, " = ");
        cn_trace_value_print(trace, &trace->attributes[a].value, note);
        separator = ", ";
    }
    if (exception != 0 && cn_word_kind(words, exception) == CN_WORD_EXCEPTION) {
        cn_text_printf(note, "%sthrew ", separator);
        cn_words_print(words, cn_word_part(words, exception, 0), note);
        cn_text_str_add(note, ": ");
        cn_words_print(words, cn_word_part(words, exception, 1), note);
    }
    if (note->len > LEN_MAX)
        note->len = LEN_MAX;
    len = note->len - 2;
    if (len == 0) {
        cn_text_clear(note);
        return;
    }
    note->chars[0] = (char)(len & 0xff);
    note->chars[1] = (char)(len >> 8);
    cn_text_fill(note, '\0', (4 - note->len % 4) % 4);
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static void leave(struct cn_trace_calls *calls)
{
    const struct open_call *call = &calls->open[--calls->depth];

    calls->now_ns = clamp(call->end_ns, calls->now_ns, UINT64_MAX);
    add_call(calls, CN_CALL_EXIT, call->function);
}

void cn_trace_calls_begin(struct cn_trace_calls *calls, uint64_t begin_ns)
{
    cn_trace_calls_end(calls);
    calls->lane = find_lane(calls, begin_ns);
    calls->now_ns = begin_ns;
}

void cn_trace_calls_enter(struct cn_trace_calls *calls, const struct cn_trace *trace,
                          uint32_t node, uint64_t begin_ns, uint32_t depth)
{
    const struct cn_trace_node *call = &trace->nodes[node];
    uint64_t start_ns = begin_ns + call->start_ns, limit_ns = UINT64_MAX;
    struct open_call open = {.function = function_of(calls, trace, call->method)};

    while (calls->depth > depth)
        leave(calls);
    if (calls->depth > 0)
        limit_ns = clamp(calls->open[calls->depth - 1].end_ns, calls->now_ns, UINT64_MAX);
    calls->now_ns = clamp(start_ns, calls->now_ns, limit_ns);
    open.end_ns = clamp(start_ns + call->duration_ns, calls->now_ns, limit_ns);
    if (calls->has_attributes)
        note_attributes(&calls->note, trace, node);
    add_call(calls, CN_CALL_ENTER, open.function);
    calls->open =
        cn_grow(calls->open, calls->depth, &calls->open_capacity, sizeof(*calls->open));
    calls->open[calls->depth++] = open;
}

void cn_trace_calls_end(struct cn_trace_calls *calls)
{
    if (calls->depth == 0)
        return;
    while (calls->depth > 0)
        leave(calls);
    calls->lanes[calls->lane].end_ns = calls->now_ns;
}

void cn_trace_calls_add(struct cn_trace_calls *calls, const struct cn_trace *trace)
{
    uint64_t begin_ns = trace->span_count > 0 ? trace->spans[0].time_ns : trace->clock_ns;
    uint32_t open = CN_NONE, depth = 0;

    if (trace->node_count == 0)
        return;
    cn_trace_calls_begin(calls, begin_ns);
    for (uint32_t i = 0; i < trace->node_count; i++) {
        for (; open != trace->nodes[i].parent; depth--)
            open = trace->nodes[open].parent;
        cn_trace_calls_enter(calls, trace, i, begin_ns, depth++);
        open = i;
    }
    cn_trace_calls_end(calls);
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
