/* Perfetto trace: a track for each thread, inside the track of its process; calls as slices
 * with interned names and arguments, events, a track for each counter of a thread, the flows of
 * the recording, and one from each fork to the forked task.
 *
 * Each task is a packet sequence: names are numbered per sequence, at their first use. */

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/flows.h"
#include "analyze/calls/stack.h"
#include "base/alloc.h"
#include "base/map.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/perfetto_format.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/write/spans/samples.h"
#include "formats/exchange/write/spans/writers.h"
#include "model/calls/values.h"

/* Interned names of annotations. */
enum { ARGUMENTS = 1, RESULT = 2, DATA = 3, COUNT = 4 };
static const char *const annotation_names[] = {
    [ARGUMENTS] = "arguments", [RESULT] = "result", [DATA] = "data", [COUNT] = "count"};

static uint64_t process_uuid(const struct cn_task *task)
{
    return (uint64_t)1 << 32 | task->pid;
}

static uint64_t thread_uuid(const struct cn_task *task)
{
    return (uint64_t)2 << 32 | task->tid;
}

/* Counters of a task count from 0. */
static uint64_t counter_uuid(const struct cn_task *task, uint32_t counter)
{
    return (uint64_t)(4u + counter) << 32 | task->tid;
}

/* Flows of forks have the uuid of the forked thread. */
static uint64_t flow_id(uint32_t flow)
{
    return (uint64_t)3 << 32 | flow;
}

struct track {
    struct cn_pb pb;           /* the packet */
    size_t packet, event;      /* where these begin */
    bool *is_interned;         /* by function and schedule */
    struct cn_map has_counter; /* by number of the counter */
    struct cn_counter_levels *levels;
};

static void open_packet(struct cn_writer *writer, uint64_t time_ns, unsigned flags)
{
    struct track *track = writer->own;

    cn_pb_clear(&track->pb);
    track->packet = cn_pb_open(&track->pb, cn_perfetto_trace_packet);
    cn_pb_u64(&track->pb, cn_perfetto_packet_timestamp, time_ns);
    cn_pb_u64(&track->pb, cn_perfetto_packet_sequence_id, writer->slot + 1u);
    cn_pb_u64(&track->pb, cn_perfetto_packet_sequence_flags, flags);
}

static void close_packet(struct cn_writer *writer)
{
    struct track *track = writer->own;

    cn_pb_close(&track->pb, track->packet);
    cn_text_add(&writer->text, (const char *)track->pb.bytes, track->pb.len);
}

static void open_event(struct cn_writer *writer, const struct cn_task *task,
                       unsigned type)
{
    struct track *track = writer->own;

    track->event = cn_pb_open(&track->pb, cn_perfetto_packet_track_event);
    cn_pb_u64(&track->pb, cn_perfetto_event_type, type);
    cn_pb_u64(&track->pb, cn_perfetto_event_track_uuid, thread_uuid(task));
}

static void close_event(struct cn_writer *writer)
{
    struct track *track = writer->own;

    cn_pb_close(&track->pb, track->event);
    close_packet(writer);
}

static void intern(struct cn_pb *pb, uint32_t field, uint64_t iid, const char *name)
{
    size_t at = cn_pb_open(pb, field);

    cn_pb_u64(pb, cn_perfetto_name_iid, iid);
    cn_pb_str(pb, cn_perfetto_name_name, name);
    cn_pb_close(pb, at);
}

static void annotate(struct cn_pb *pb, uint64_t name, const char *value)
{
    size_t at = cn_pb_open(pb, cn_perfetto_event_debug_annotations);

    cn_pb_u64(pb, cn_perfetto_annotation_name_iid, name);
    cn_pb_str(pb, cn_perfetto_annotation_string_value, value);
    cn_pb_close(pb, at);
}

/* One end of the flow from a fork to the forked task. */
static void add_flow(struct cn_writer *writer, const struct cn_task *task,
                     const char *name, uint32_t field)
{
    struct track *track = writer->own;

    open_packet(writer, writer->task->time_ns, CN_PERFETTO_NEEDS_STATE);
    open_event(writer, task, CN_PERFETTO_INSTANT);
    cn_pb_str(&track->pb, cn_perfetto_event_name, name);
    cn_pb_fixed64(&track->pb, field, thread_uuid(writer->task));
    close_event(writer);
}

static void begin_writer(struct cn_writer *writer)
{
    const struct cn_recording *rec = writer->rec;
    struct track *track = cn_alloc(1, sizeof(*track));

    writer->own = track;
    track->is_interned = cn_alloc(rec->function_count + 2u, sizeof(*track->is_interned));
    open_packet(writer, writer->task->time_ns, CN_PERFETTO_STATE_CLEARED);
    size_t interned = cn_pb_open(&track->pb, cn_perfetto_packet_interned_data);
    for (unsigned i = ARGUMENTS; i <= COUNT; i++)
        intern(&track->pb, cn_perfetto_interned_annotation_names, i, annotation_names[i]);
    cn_pb_close(&track->pb, interned);
    close_packet(writer);
    if (writer->task->is_fork && writer->task->parent != CN_NONE) {
        add_flow(writer, &rec->tasks[writer->task->parent], "forks",
                 cn_perfetto_event_flow_ids);
        add_flow(writer, writer->task, "was forked",
                 cn_perfetto_event_terminating_flow_ids);
    }
}

static void end_writer(struct cn_writer *writer)
{
    struct track *track = writer->own;

    cn_pb_done(&track->pb);
    cn_map_done(&track->has_counter);
    cn_counter_levels_free(track->levels);
    free(track->is_interned);
    free(track);
}

static void intern_function(struct cn_writer *writer, const struct cn_span *span)
{
    struct track *track = writer->own;

    if (track->is_interned[span->function])
        return;
    track->is_interned[span->function] = true;
    size_t at = cn_pb_open(&track->pb, cn_perfetto_packet_interned_data);
    intern(&track->pb, cn_perfetto_interned_event_names, span->function + 1u,
           cn_span_name(writer->rec, span, NULL));
    cn_pb_close(&track->pb, at);
}

/* The begin or the end of a call. */
static void add_slice(struct cn_writer *writer, const struct cn_span *span)
{
    struct track *track = writer->own;
    struct cn_pb *pb = &track->pb;
    bool is_begin = span->kind == CN_SPAN_BEGIN;
    bool is_known = span->function < writer->rec->function_count + 2;
    char buffer[CN_CALL_NAME_MAX];

    open_packet(writer, span->time_ns, CN_PERFETTO_NEEDS_STATE);
    if (is_begin && is_known)
        intern_function(writer, span);
    open_event(writer, writer->task, is_begin ? CN_PERFETTO_BEGIN : CN_PERFETTO_END);
    if (is_begin && is_known)
        cn_pb_u64(pb, cn_perfetto_event_name_iid, span->function + 1u);
    else if (is_begin)
        cn_pb_str(pb, cn_perfetto_event_name, cn_span_name(writer->rec, span, buffer));
    if (cn_span_has_values(span)) {
        cn_span_values(writer->rec, span, &writer->scratch);
        annotate(pb, is_begin ? ARGUMENTS : RESULT, cn_text_str(&writer->scratch));
    }
    close_event(writer);
}

static void add_event(struct cn_writer *writer, const struct cn_span *span)
{
    struct track *track = writer->own;
    struct cn_pb *pb = &track->pb;

    open_packet(writer, span->time_ns, CN_PERFETTO_NEEDS_STATE);
    open_event(writer, writer->task, CN_PERFETTO_INSTANT);
    cn_pb_str(pb, cn_perfetto_event_name, cn_span_event_name(writer->rec, span));
    if (span->kind == CN_SPAN_LOST) {
        size_t at = cn_pb_open(pb, cn_perfetto_event_debug_annotations);

        cn_pb_u64(pb, cn_perfetto_annotation_name_iid, COUNT);
        cn_pb_u64(pb, cn_perfetto_annotation_uint_value, span->address);
        cn_pb_close(pb, at);
    } else if (cn_span_event_data(writer->rec, span, &writer->scratch)) {
        annotate(pb, DATA, cn_text_str(&writer->scratch));
    }
    close_event(writer);
}

/* Before its first reading, the track of a counter. */
static void add_counter(struct cn_writer *writer, uint32_t counter, const char *name)
{
    struct track *track = writer->own;

    if (cn_map_find(&track->has_counter, counter, 0) != 0)
        return;
    *cn_map_at(&track->has_counter, counter, 0) = 1;
    open_packet(writer, writer->task->time_ns, CN_PERFETTO_NEEDS_STATE);
    size_t at = cn_pb_open(&track->pb, cn_perfetto_packet_track_descriptor);
    cn_pb_u64(&track->pb, cn_perfetto_track_uuid, counter_uuid(writer->task, counter));
    cn_pb_u64(&track->pb, cn_perfetto_track_parent_uuid, thread_uuid(writer->task));
    cn_pb_str(&track->pb, cn_perfetto_track_name, name);
    cn_pb_close(&track->pb, cn_pb_open(&track->pb, cn_perfetto_track_counter));
    cn_pb_close(&track->pb, at);
    close_packet(writer);
}

static void add_reading(void *arg, const struct cn_span *span, uint32_t counter,
                        const char *name, double value)
{
    struct cn_writer *writer = arg;
    struct track *track = writer->own;
    uint64_t bits;

    add_counter(writer, counter, name);
    open_packet(writer, span->time_ns, CN_PERFETTO_NEEDS_STATE);
    track->event = cn_pb_open(&track->pb, cn_perfetto_packet_track_event);
    cn_pb_u64(&track->pb, cn_perfetto_event_type, CN_PERFETTO_COUNTER);
    cn_pb_u64(&track->pb, cn_perfetto_event_track_uuid,
              counter_uuid(writer->task, counter));
    memcpy(&bits, &value, sizeof(bits));
    cn_pb_fixed64(&track->pb, cn_perfetto_event_double_counter_value, bits);
    close_event(writer);
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_writer *writer = arg;
    struct track *track = writer->own;

    if (span->kind == CN_SPAN_EVENT &&
        cn_span_readings(writer->rec, span, &track->levels, add_reading, writer))
        return;
    if (span->kind == CN_SPAN_EVENT || span->kind == CN_SPAN_LOST)
        add_event(arg, span);
    else if (span->kind == CN_SPAN_BEGIN || span->has_begin)
        add_slice(arg, span);
}

static void add_clock(struct cn_pb *pb, unsigned clock, uint64_t time_ns)
{
    size_t at = cn_pb_open(pb, cn_perfetto_snapshot_clocks);

    cn_pb_u64(pb, cn_perfetto_clock_clock_id, clock);
    cn_pb_u64(pb, cn_perfetto_clock_timestamp, time_ns);
    cn_pb_close(pb, at);
}

/* Packets about all tasks come first, in their own sequence. */
static size_t open_shared(const struct cn_export *x, struct cn_pb *pb)
{
    size_t at = cn_pb_open(pb, cn_perfetto_trace_packet);

    cn_pb_u64(pb, cn_perfetto_packet_sequence_id, x->query->task_count + 1u);
    return at;
}

static void add_clocks(const struct cn_export *x, struct cn_pb *pb)
{
    uint64_t offset_ns = cn_export_clock_offset_ns(x->query->rec);
    uint64_t start_ns = cn_export_start_ns(x->query);

    if (offset_ns == 0)
        return;
    size_t at = open_shared(x, pb);
    size_t inner = cn_pb_open(pb, cn_perfetto_packet_clock_snapshot);
    add_clock(pb, CN_PERFETTO_CLOCK_BOOTTIME, start_ns);
    add_clock(pb, CN_PERFETTO_CLOCK_REALTIME, start_ns + offset_ns);
    cn_pb_close(pb, inner);
    cn_pb_close(pb, at);
}

/* The track of a process, or of a thread. */
static void add_track(const struct cn_export *x, struct cn_pb *pb,
                      const struct cn_task *task, bool is_thread)
{
    size_t at = open_shared(x, pb);
    size_t track = cn_pb_open(pb, cn_perfetto_packet_track_descriptor), inner;

    cn_pb_u64(pb, cn_perfetto_track_uuid,
              is_thread ? thread_uuid(task) : process_uuid(task));
    if (is_thread) {
        cn_pb_u64(pb, cn_perfetto_track_parent_uuid, process_uuid(task));
        inner = cn_pb_open(pb, cn_perfetto_track_thread);
        cn_pb_u64(pb, cn_perfetto_thread_pid, task->pid);
        cn_pb_u64(pb, cn_perfetto_thread_tid, task->tid);
        cn_pb_str(pb, cn_perfetto_thread_thread_name, task->name);
    } else {
        inner = cn_pb_open(pb, cn_perfetto_track_process);
        cn_pb_u64(pb, cn_perfetto_process_pid, task->pid);
        cn_pb_str(pb, cn_perfetto_process_process_name, task->name);
    }
    cn_pb_close(pb, inner);
    cn_pb_close(pb, track);
    cn_pb_close(pb, at);
}

/* An instant event, inside the innermost call of its task at that time. */
static void add_flow_end(const struct cn_export *x, struct cn_pb *pb, uint32_t number,
                         const struct cn_flow *flow, bool is_start)
{
    const struct cn_recording *rec = x->query->rec;
    const struct cn_task *task = &rec->tasks[is_start ? flow->from_task : flow->to_task];
    size_t at = open_shared(x, pb), event;

    cn_pb_u64(pb, cn_perfetto_packet_timestamp, is_start ? flow->from_ns : flow->to_ns);
    event = cn_pb_open(pb, cn_perfetto_packet_track_event);
    cn_pb_u64(pb, cn_perfetto_event_type, CN_PERFETTO_INSTANT);
    cn_pb_u64(pb, cn_perfetto_event_track_uuid, thread_uuid(task));
    cn_pb_str(pb, cn_perfetto_event_name, *flow->name ? flow->name : "flow");
    cn_pb_fixed64(pb,
                  is_start ? cn_perfetto_event_flow_ids
                           : cn_perfetto_event_terminating_flow_ids,
                  flow_id(number));
    cn_pb_close(pb, event);
    cn_pb_close(pb, at);
}

/* After the calls: an end has the time of the call that it is in, where a span begins with it,
 * and readers keep the order of packets of the same time. */
static bool add_flows(struct cn_export *x, struct cn_pb *pb, struct cn_error *err)
{
    bool ok = true;

    for (uint32_t i = 0; ok && i < cn_call_flow_count(x->query->rec); i++) {
        struct cn_flow flow;

        if (!cn_call_flow_at(x->query->rec, i, &flow))
            continue;
        cn_pb_clear(pb);
        add_flow_end(x, pb, i, &flow, true);
        add_flow_end(x, pb, i, &flow, false);
        cn_text_add(&x->text, (const char *)pb->bytes, pb->len);
        ok = cn_export_flush(x, err);
    }
    return ok;
}

static bool write_trace(struct cn_export *x, struct cn_error *err)
{
    static const struct cn_writer_ops ops = {
        .begin = begin_writer, .visit = visit, .end = end_writer};
    const struct cn_call_query *query = x->query;
    struct cn_span_counts counts;
    struct cn_map processes = {0};
    struct cn_pb pb = {0};

    add_clocks(x, &pb);
    for (uint32_t i = 0; i < query->task_count; i++) {
        const struct cn_task *task = &query->rec->tasks[query->tasks[i]];

        if (cn_map_find(&processes, task->pid, 0) == 0)
            add_track(x, &pb, task, false);
        *cn_map_at(&processes, task->pid, 0) = 1;
        add_track(x, &pb, task, true);
    }
    bool ok = cn_sink_write(&x->sink, pb.bytes, pb.len, err) &&
              cn_export_writers(x, &ops, NULL, &counts, err) && add_flows(x, &pb, err);
    cn_map_done(&processes);
    cn_pb_done(&pb);
    if (ok)
        cn_export_lose_counts(x, &counts, true, true);
    return ok;
}

static bool write_samples(struct cn_export *x, struct cn_error *err)
{
    return cn_export_samples(x, write_trace, err);
}

const struct cn_format cn_format_perfetto = {
    .name = "perfetto",
    .summary =
        "Perfetto trace: every call at its recorded time, values, events, processes, "
        "forks, flows",
    .holds = "calls",
    .is_file = true,
    .keeps_flows = true,
    .keeps_states = true,
    .probe = cn_perfetto_probe,
    .open_recording = cn_perfetto_open,
    .export_calls = write_trace,
    .export_database = write_samples,
};
