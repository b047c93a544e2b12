#include "analyze/calls/from_traces.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/calls/recording_memory.h"
#include "model/traces/links.h"
#include "model/traces/span.h"

enum { FUNCTION_LEN = 16 };

/* Each service is a module, with addresses of its own. The functions of more services, and of
 * traces without one, are those of the first module. */
enum { MODULE_SHIFT = 32, SERVICE_MAX = 1 << 15 };

/* As many tracks as tasks that other readers make. */
enum { TRACK_MAX = 1 << 16 };

/* Spans of Zipkin have starts and durations in whole microseconds: a call may seem to end this
 * much after its caller, or to begin before the call before it ended. */
enum { MICROSECOND_NS = 1000, ROUNDING_NS = 2 * MICROSECOND_NS };

/* Calls that nest: a task. */
struct from_traces_track {
    uint32_t task;
    uint32_t group, slot; /* where it is listed */
    uint32_t below;       /* group of the tracks of calls below its own; 0: none yet */
    uint32_t depth;       /* open calls */
    uint64_t now_ns;      /* of the last event */
};

/* Tracks of traces, or those below one track. A tree of minima finds the first that is free:
 * `free_ns[leaf_count + slot]` is the time of a track's last exit, UINT64_MAX while it has an
 * open call. */
struct from_traces_group {
    uint32_t *tracks;
    uint64_t *free_ns;
    uint32_t count, leaf_count;
};

/* The time of a call. */
struct made_call {
    uint64_t begin_ns, end_ns;
};

struct trace_open_call {
    uint32_t function, module;
    uint32_t track;
    uint32_t depth; /* calls that are open in its track, itself included */
    uint64_t begin_ns, end_ns;
    struct made_call real; /* its times, wherever it is placed */
    uint64_t inside_ns;    /* of the calls that it made in its track */
    size_t made;           /* where the list of calls that it made begins */
    bool is_left;          /* calls that start after its end follow it in its track */
};

struct cn_trace_calls {
    struct cn_memory_recording *recording;
    uint32_t session;
    struct cn_names modules; /* the first: of no service; numbered as the recording's */
    struct cn_names names;   /* "module:name" of functions, numbered as the recording's */
    uint64_t *addresses;     /* of functions */
    size_t address_count, address_capacity;
    const struct cn_words *words;
    uint64_t born_ns;
    struct cn_map services;  /* service word -> module, of `words` */
    struct cn_map functions; /* module and method word -> function, of `words` */
    struct from_traces_track *tracks;
    struct from_traces_group *groups; /* the first: of traces */
    size_t track_count, track_capacity, group_count, group_capacity;
    struct trace_open_call *open; /* of the trace, outermost first */
    size_t depth, open_capacity;
    struct cn_map traces; /* ids of those that were added */
    uint64_t trace_count;
    struct cn_map paths;    /* path and function -> path of the recording, from 1 */
    struct made_call *made; /* by the open calls, those of the outermost first */
    size_t made_count, made_capacity;
    uint64_t moved_count, cut_count;
    uint64_t excess_count; /* of flows */
    bool has_attributes, is_nested;
    struct cn_text note;
};

static uint32_t add_group(struct cn_trace_calls *calls)
{
    CN_GROW(calls->groups, calls->group_count, calls->group_capacity);
    calls->groups[calls->group_count] = (struct from_traces_group){0};
    return (uint32_t)calls->group_count++;
}

static uint32_t add_module(struct cn_trace_calls *calls, const char *service)
{
    uint32_t module, before = (uint32_t)calls->modules.count;

    if (before > SERVICE_MAX)
        return 0;
    module = cn_names_add(&calls->modules, service);
    if (module == before)
        (void)cn_memory_recording_add_module(calls->recording, service, "");
    return module;
}

struct cn_trace_calls *cn_trace_calls_new(void)
{
    struct cn_trace_calls *calls = cn_alloc(1, sizeof(*calls));

    calls->recording = cn_memory_recording_new();
    (void)add_module(calls, "traces");
    calls->session = cn_memory_recording_add_session(calls->recording, "0000000000000001",
                                                     1, 0, "traces");
    (void)add_group(calls);
    return calls;
}

void cn_trace_calls_free(struct cn_trace_calls *calls)
{
    if (!calls)
        return;
    cn_memory_recording_free(calls->recording);
    cn_names_done(&calls->modules);
    cn_names_done(&calls->names);
    free(calls->addresses);
    cn_map_done(&calls->services);
    cn_map_done(&calls->functions);
    cn_map_done(&calls->traces);
    cn_map_done(&calls->paths);
    for (size_t i = 0; i < calls->group_count; i++) {
        free(calls->groups[i].tracks);
        free(calls->groups[i].free_ns);
    }
    free(calls->groups);
    free(calls->tracks);
    free(calls->open);
    free(calls->made);
    cn_text_done(&calls->note);
    free(calls);
}

void cn_trace_calls_show_attributes(struct cn_trace_calls *calls)
{
    calls->has_attributes = true;
}

void cn_trace_calls_nest(struct cn_trace_calls *calls)
{
    calls->is_nested = true;
}

/* The module of a call: the service of its span, else that of its caller. */
static uint32_t module_of(struct cn_trace_calls *calls, const struct cn_trace *trace,
                          const struct cn_trace_node *node)
{
    uint32_t service = node->span == CN_NONE ? 0 : trace->spans[node->span].service;
    struct cn_text name = {0};
    uint32_t *known;

    if (service == 0)
        return calls->depth > 0 ? calls->open[calls->depth - 1].module : 0;
    known = cn_map_at(&calls->services, service, CN_NONE);
    if (*known == CN_NONE) {
        cn_words_print(trace->words, service, &name);
        *known = add_module(calls, cn_text_str(&name));
        cn_text_done(&name);
    }
    return *known;
}

/* Methods of the same name are one function of their service, whichever dictionary they come
 * from. */
static uint32_t add_function(struct cn_trace_calls *calls, const struct cn_words *words,
                             uint32_t module, uint32_t method)
{
    static const struct cn_argument_spec attributes = {
        .format = 's', .index = 1, .type_name = "", .text = "arg1/s"};
    struct cn_text key = {0};
    uint32_t function, before = (uint32_t)calls->names.count;
    size_t name_at;

    cn_text_printf(&key, "%" PRIu32 ":", module);
    name_at = key.len;
    if (method == 0)
        cn_text_str_add(&key, "?");
    else
        cn_words_print_method_name(words, method, &key);
    function = cn_names_add(&calls->names, cn_text_str(&key));
    if (function == before) {
        const char *name = calls->names.list[function] + name_at;
        uint64_t offset = (uint64_t)function * FUNCTION_LEN;

        (void)cn_memory_recording_add_function(
            calls->recording, (struct cn_call_function){
                                  .name = name,
                                  .raw_name = name,
                                  .module = module,
                                  .type = 'T',
                                  .offset = offset,
                                  .size = FUNCTION_LEN,
                                  .file = "",
                                  .arguments = {&attributes, calls->has_attributes},
                              });
        CN_PUSH(calls->addresses, calls->address_count, calls->address_capacity,
                ((uint64_t)module << MODULE_SHIFT) + offset);
    }
    cn_text_done(&key);
    return function;
}

/* Words of another dictionary are others. */
static void follow_words(struct cn_trace_calls *calls, const struct cn_words *words)
{
    if (calls->words == words && calls->born_ns == words->born_ns)
        return;
    cn_map_done(&calls->services);
    cn_map_done(&calls->functions);
    calls->words = words;
    calls->born_ns = words->born_ns;
}

static uint32_t function_of(struct cn_trace_calls *calls, const struct cn_words *words,
                            uint32_t module, uint32_t method)
{
    uint32_t *known =
        cn_map_at(&calls->functions, (uint64_t)module << 32 | method, CN_NONE);

    if (*known == CN_NONE)
        *known = add_function(calls, words, module, method);
    return *known;
}

static void set_free(struct from_traces_group *group, uint32_t slot, uint64_t time_ns)
{
    uint64_t *tree = group->free_ns;

    tree[group->leaf_count + slot] = time_ns;
    for (uint32_t i = (group->leaf_count + slot) / 2; i > 0; i /= 2)
        tree[i] = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
}

static uint32_t find_free(const struct from_traces_group *group, uint64_t time_ns)
{
    uint32_t i = 1;

    if (group->count == 0 || group->free_ns[1] > time_ns)
        return CN_NONE;
    while (i < group->leaf_count)
        i = group->free_ns[2 * i] <= time_ns ? 2 * i : 2 * i + 1;
    return group->tracks[i - group->leaf_count];
}

static void add_to_group(struct from_traces_group *group, uint32_t track)
{
    uint64_t *old = group->free_ns;
    uint32_t leaf_count = group->leaf_count;

    if (group->count == leaf_count) {
        group->leaf_count = leaf_count > 0 ? 2 * leaf_count : 1;
        group->tracks =
            cn_realloc(group->tracks, group->leaf_count, sizeof(*group->tracks));
        group->free_ns = cn_alloc(2 * (size_t)group->leaf_count, sizeof(*old));
        for (uint32_t i = 0; i < 2 * group->leaf_count; i++)
            group->free_ns[i] = UINT64_MAX;
        for (uint32_t i = 0; i < leaf_count; i++)
            set_free(group, i, old[leaf_count + i]);
        free(old);
    }
    group->tracks[group->count++] = track;
}

/* The first track of a group that is free at a time, a new one if none is. */
static uint32_t take_track(struct cn_trace_calls *calls, uint32_t group, uint32_t parent,
                           uint64_t begin_ns)
{
    uint32_t tid = (uint32_t)calls->track_count + 1;
    uint32_t track = find_free(&calls->groups[group], begin_ns), task;

    if (track != CN_NONE || calls->track_count == TRACK_MAX)
        return track;
    CN_GROW(calls->tracks, calls->track_count, calls->track_capacity);
    task = cn_memory_recording_add_task(calls->recording,
                                        (struct cn_task){.tid = tid,
                                                         .pid = 1,
                                                         .parent = parent,
                                                         .name = "traces",
                                                         .time_ns = begin_ns,
                                                         .first_ns = begin_ns,
                                                         .has_session = tid == 1,
                                                         .has_file = true});
    cn_memory_recording_add_task_session(calls->recording, task, 0, calls->session);
    track = (uint32_t)calls->track_count++;
    calls->tracks[track] = (struct from_traces_track){
        .task = task, .group = group, .slot = calls->groups[group].count};
    add_to_group(&calls->groups[group], track);
    return track;
}

/* `part_ns` is covered or self time, by the flags. */
static void add_call(struct cn_trace_calls *calls, struct from_traces_track *track,
                     enum cn_call_kind kind, uint32_t function, uint64_t time_ns,
                     uint64_t part_ns, uint8_t flags)
{
    struct cn_bytes data = {(const uint8_t *)cn_text_str(&calls->note), calls->note.len};

    track->now_ns = time_ns;
    cn_memory_recording_add_call(
        calls->recording, track->task,
        (struct cn_call){
            .time_ns = time_ns,
            .address = calls->addresses[function],
            .function = function,
            .depth = (uint16_t)track->depth,
            .kind = (uint8_t)kind,
            .flags = (uint8_t)((data.len > 0 ? CN_CALL_HAS_DATA : 0) | flags),
            .self_ns = part_ns,
        },
        data);
    cn_text_clear(&calls->note);
}

static void note_list(struct cn_text *note, const struct cn_trace *trace, uint32_t first,
                      const char **separator)
{
    for (uint32_t a = first; a != CN_NONE; a = trace->attributes[a].next) {
        cn_text_str_add(note, *separator);
        cn_words_print(trace->words, trace->attributes[a].key, note);
        cn_text_str_add(note, " = ");
        cn_trace_value_print(trace, &trace->attributes[a].value, note);
        *separator = ", ";
    }
}

static void note_span(struct cn_text *note, const struct cn_trace *trace,
                      const struct cn_trace_span *span, const char **separator)
{
    const struct cn_trace_resource *resource = cn_trace_new_resource(trace, span);

    if (resource)
        note_list(note, trace, resource->attributes.first, separator);
    if (span->status_message != 0) {
        cn_text_printf(note, "%sstatus.message = ", *separator);
        cn_words_print(trace->words, span->status_message, note);
        *separator = ", ";
    }
    for (uint32_t i = 0; i < span->event_count; i++) {
        const struct cn_trace_event *event = &cn_trace_span_events(trace, span)[i];

        if (cn_trace_event_is_exception(trace, event))
            continue;
        cn_text_printf(note, "%s%s = ", *separator,
                       event->is_annotation ? "annotation" : "event");
        cn_trace_event_print(trace, event, note);
        *separator = ", ";
    }
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
    note_list(note, trace, trace->nodes[node].first_attribute, &separator);
    if (trace->nodes[node].span != CN_NONE)
        note_span(note, trace, &trace->spans[trace->nodes[node].span], &separator);
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

/* The self time of a call: what no call that it made covers. */
static uint64_t self_of(struct cn_trace_calls *calls, const struct trace_open_call *call)
{
    struct cn_self_time self = {call->real.begin_ns, call->real.end_ns,
                                call->real.end_ns - call->real.begin_ns};
    struct made_call *made = calls->made + call->made;
    size_t count = calls->made_count - call->made;

    if (count > 0)
        CN_SORT(made, count, CN_UP(struct made_call, begin_ns));
    for (size_t i = 0; i < count; i++)
        cn_self_time_take(&self, made[i].begin_ns, made[i].end_ns);
    return self.ns;
}

/* The time of a call that only calls in other tracks cover: what all that it made cover, without
 * those in its track. */
static uint64_t covered_outside(struct cn_trace_calls *calls,
                                const struct trace_open_call *call)
{
    uint64_t covered_ns = call->real.end_ns - call->real.begin_ns - self_of(calls, call);

    return covered_ns > call->inside_ns ? covered_ns - call->inside_ns : 0;
}

static void leave_covered(struct cn_trace_calls *calls, struct from_traces_track *track,
                          const struct trace_open_call *call)
{
    uint64_t covered_ns = covered_outside(calls, call);

    add_call(calls, track, CN_CALL_EXIT, call->function, call->end_ns, covered_ns,
             covered_ns > 0 ? CN_CALL_COVERED : 0);
}

static void leave_track(struct cn_trace_calls *calls, struct trace_open_call *call)
{
    struct from_traces_track *track = &calls->tracks[call->track];

    call->is_left = true;
    track->depth--;
    if (calls->is_nested)
        add_call(calls, track, CN_CALL_EXIT, call->function, call->end_ns,
                 self_of(calls, call), CN_CALL_HAS_SELF);
    else
        leave_covered(calls, track, call);
    if (track->depth == 0)
        set_free(&calls->groups[track->group], track->slot, call->end_ns);
}

static void leave(struct cn_trace_calls *calls)
{
    struct trace_open_call *call = &calls->open[--calls->depth];

    if (!call->is_left)
        leave_track(calls, call);
    calls->made_count = call->made;
}

static bool is_rounded(const struct trace_open_call *call, uint64_t begin_ns)
{
    return begin_ns % MICROSECOND_NS == 0 && call->end_ns % MICROSECOND_NS == 0;
}

/* Move a call between the last event of its caller's track and the end of the caller; false if
 * it does not fit there, apart from rounding. */
static bool fit(const struct trace_open_call *caller,
                const struct from_traces_track *track, struct trace_open_call *call,
                uint64_t *begin_ns)
{
    uint64_t low_ns = track->now_ns, high_ns = caller->end_ns;
    uint64_t slack_ns = is_rounded(call, *begin_ns) ? ROUNDING_NS : 0;
    uint64_t duration_ns = call->end_ns - *begin_ns;

    if (duration_ns > high_ns - low_ns ||
        (low_ns > *begin_ns && low_ns - *begin_ns > slack_ns) ||
        (call->end_ns > high_ns && call->end_ns - high_ns > slack_ns))
        return false;
    *begin_ns = clamp(*begin_ns, low_ns, high_ns - duration_ns);
    call->end_ns = *begin_ns + duration_ns;
    return true;
}

/* The track of a call: its caller's if it fits there, otherwise one below. */
static void place(struct cn_trace_calls *calls, struct trace_open_call *call,
                  uint64_t *begin_ns)
{
    struct trace_open_call *caller = &calls->open[calls->depth - 1];
    struct from_traces_track *track = &calls->tracks[caller->track];

    call->track = caller->track;
    if (calls->is_nested) {
        *begin_ns = clamp(*begin_ns, track->now_ns, caller->end_ns);
        call->end_ns = clamp(call->end_ns, *begin_ns, caller->end_ns);
        return;
    }
    if (!caller->is_left && fit(caller, track, call, begin_ns))
        return;
    if (!caller->is_left && track->depth == 1 && *begin_ns >= caller->end_ns)
        leave_track(calls, caller);
    if (track->depth == 0 && *begin_ns >= track->now_ns)
        return;
    calls->moved_count++;
    if (track->below == 0)
        track->below = add_group(calls);
    call->track = take_track(calls, track->below, track->task, *begin_ns);
    if (call->track == CN_NONE) {
        uint64_t limit_ns = caller->is_left ? UINT64_MAX : caller->end_ns;

        call->track = caller->track;
        *begin_ns = clamp(*begin_ns, track->now_ns, limit_ns);
        call->end_ns = clamp(call->end_ns, *begin_ns, limit_ns);
        calls->cut_count++;
    }
}

/* The flow from a caller to a call in another track. */
static void add_flow(struct cn_trace_calls *calls, const struct trace_open_call *caller,
                     const struct trace_open_call *call)
{
    struct cn_flow flow = {
        .from_task = calls->tracks[caller->track].task,
        .to_task = calls->tracks[call->track].task,
        .from_ns = clamp(call->begin_ns, caller->begin_ns, caller->end_ns),
        .to_ns = call->begin_ns,
        .from_depth = caller->depth,
        .name = "",
    };

    calls->excess_count += !cn_memory_recording_add_flow(calls->recording, flow);
}

/* Note which calls are around one in a track of its own. */
static void note_path(struct cn_trace_calls *calls, const struct trace_open_call *call)
{
    uint32_t path = 0;

    for (size_t i = 0; i < calls->depth; i++) {
        uint32_t function = calls->open[i].function;
        uint32_t *known = cn_map_at(&calls->paths, (uint64_t)path << 32 | function, 0);

        if (*known == 0)
            *known =
                cn_memory_recording_add_path(
                    calls->recording,
                    (struct cn_caller_path){path > 0 ? path - 1 : CN_NONE, function}) +
                1;
        path = *known;
    }
    cn_memory_recording_add_moved(calls->recording,
                                  (struct cn_moved_call){calls->tracks[call->track].task,
                                                         path - 1, call->begin_ns});
}

/* A call that an open one made. */
static void note_made(struct cn_trace_calls *calls, struct trace_open_call *caller,
                      const struct trace_open_call *call)
{
    if (caller->track != call->track)
        add_flow(calls, caller, call);
    else if (!caller->is_left)
        caller->inside_ns += call->end_ns - call->begin_ns;
    CN_PUSH(calls->made, calls->made_count, calls->made_capacity, call->real);
}

/* A trace counts once, however many outermost calls it has: callers can be missing. */
static void count_trace(struct cn_trace_calls *calls, const struct cn_trace *trace)
{
    uint64_t key = trace->id_high * UINT64_C(0x9e3779b97f4a7c15) ^ trace->id_low;
    uint32_t *is_counted = key == 0 ? NULL : cn_map_at(&calls->traces, key, 0);

    calls->trace_count += !is_counted || !*is_counted;
    if (is_counted)
        *is_counted = 1;
}

void cn_trace_calls_enter(struct cn_trace_calls *calls, const struct cn_trace *trace,
                          uint32_t node, uint64_t begin_ns, uint32_t depth)
{
    const struct cn_trace_node *entered = &trace->nodes[node];
    struct trace_open_call call = {0};
    struct from_traces_track *track;
    bool is_moved = false;

    while (calls->depth > depth)
        leave(calls);
    follow_words(calls, trace->words);
    call.module = module_of(calls, trace, entered);
    call.function = function_of(calls, trace->words, call.module, entered->method);
    begin_ns = clamp(begin_ns + entered->start_ns, 0, UINT64_MAX - 1);
    call.end_ns = clamp(begin_ns + entered->duration_ns, begin_ns, UINT64_MAX);
    call.real = (struct made_call){begin_ns, call.end_ns};
    if (calls->depth > 0) {
        place(calls, &call, &begin_ns);
    } else {
        count_trace(calls, trace);
        call.track = take_track(calls, 0, CN_NONE, begin_ns);
        if (call.track == CN_NONE) {
            call.track = calls->groups[0].tracks[0];
            begin_ns = clamp(begin_ns, calls->tracks[call.track].now_ns, UINT64_MAX);
            call.end_ns = clamp(call.end_ns, begin_ns, UINT64_MAX);
            calls->cut_count++;
        }
    }
    call.begin_ns = begin_ns;
    if (!calls->is_nested)
        call.real = (struct made_call){call.begin_ns, call.end_ns};
    if (calls->depth > 0) {
        note_made(calls, &calls->open[calls->depth - 1], &call);
        is_moved = calls->tracks[call.track].depth == 0;
    }
    if (is_moved)
        note_path(calls, &call);
    call.made = calls->made_count;
    track = &calls->tracks[call.track];
    if (calls->has_attributes)
        note_attributes(&calls->note, trace, node);
    if (track->depth == 0)
        set_free(&calls->groups[track->group], track->slot, UINT64_MAX);
    add_call(calls, track, CN_CALL_ENTER, call.function, begin_ns, 0,
             is_moved ? CN_CALL_MOVED : 0);
    call.depth = ++track->depth;
    CN_PUSH(calls->open, calls->depth, calls->open_capacity, call);
}

void cn_trace_calls_end(struct cn_trace_calls *calls)
{
    while (calls->depth > 0)
        leave(calls);
}

void cn_trace_calls_add(struct cn_trace_calls *calls, const struct cn_trace *trace)
{
    uint64_t begin_ns = trace->span_count > 0 ? trace->spans[0].time_ns : trace->clock_ns;
    uint32_t open = CN_NONE, depth = 0;

    if (trace->node_count == 0)
        return;
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

    for (uint32_t i = 0; i < calls->modules.count; i++) {
        uint64_t begin = (uint64_t)i << MODULE_SHIFT;

        cn_memory_recording_add_mapping(
            calls->recording, calls->session,
            (struct cn_mapping){begin,
                                begin + (uint64_t)calls->names.count * FUNCTION_LEN + 1,
                                0, i, "r-xp"});
    }
    recording = cn_memory_recording_finish(calls->recording);
    calls->recording = NULL;
    recording->trace_count = calls->trace_count;
    if (calls->moved_count > 0)
        cn_recording_warn(
            recording, false,
            "calls that overlap another one of their caller, or are not "
            "within it, are in tasks of their own: %" PRIu64 " in %zu task%s",
            calls->moved_count, calls->track_count - calls->groups[0].count,
            cn_plural(calls->track_count - calls->groups[0].count, "", "s"));
    if (calls->excess_count > 0)
        cn_recording_warn(recording, false, "%" PRIu64 " %s after the first %d left out",
                          calls->excess_count,
                          cn_plural(calls->excess_count, "flow", "flows"), CN_FLOW_MAX);
    if (calls->cut_count > 0)
        cn_recording_warn(recording, false,
                          "%" PRIu64 " %s cut: more than %d run at the same time",
                          calls->cut_count,
                          cn_plural(calls->cut_count, "call is", "calls are"), TRACK_MAX);
    return recording;
}
