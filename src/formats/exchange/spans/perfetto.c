/* Perfetto's trace: a track for each thread, below that of its process; calls as
 * slices with interned names, arguments, events, and an arrow from the moment of a
 * fork to the task that it made.
 *
 * Each task is a sequence of packets of its own: names are numbered per sequence, when
 * they are first used. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/perfetto_format.h"
#include "formats/exchange/spans/lanes.h"
#include "formats/exchange/spans/span_text.h"

/* What annotations are called; numbers of interned names. */
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

struct track {
    struct cn_pb pb; /* of one packet */
    bool *is_known;  /* by function and schedule: its name was written */
    uint32_t task;
};

/* A packet of the lane's sequence. */
static size_t open_packet(struct cn_lane *lane, uint64_t time_ns, unsigned flags)
{
    struct track *track = lane->own;
    size_t at;

    cn_pb_clear(&track->pb);
    at = cn_pb_open(&track->pb, cn_perfetto_trace_packet);
    cn_pb_u64(&track->pb, cn_perfetto_packet_timestamp, time_ns);
    cn_pb_u64(&track->pb, cn_perfetto_packet_sequence_id, lane->slot + 1u);
    cn_pb_u64(&track->pb, cn_perfetto_packet_sequence_flags, flags);
    return at;
}

static void close_packet(struct cn_lane *lane, size_t at)
{
    struct track *track = lane->own;

    cn_pb_close(&track->pb, at);
    cn_text_add(&lane->text, (const char *)track->pb.bytes, track->pb.len);
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

/* One end of the arrow that tells where a task comes from. */
static void add_flow(struct cn_lane *lane, const struct cn_task *on, const char *name,
                     uint32_t field)
{
    struct track *track = lane->own;
    size_t at = open_packet(lane, lane->task->time_ns, CN_PERFETTO_NEEDS_STATE);
    size_t event = cn_pb_open(&track->pb, cn_perfetto_packet_track_event);

    cn_pb_u64(&track->pb, cn_perfetto_event_type, CN_PERFETTO_INSTANT);
    cn_pb_u64(&track->pb, cn_perfetto_event_track_uuid, thread_uuid(on));
    cn_pb_str(&track->pb, cn_perfetto_event_name, name);
    cn_pb_fixed64(&track->pb, field, thread_uuid(lane->task));
    cn_pb_close(&track->pb, event);
    close_packet(lane, at);
}

static void begin_lane(struct cn_lane *lane)
{
    const struct cn_recording *rec = lane->x->query->rec;
    struct track *track = cn_alloc(1, sizeof(*track));
    size_t at, interned;

    lane->own = track;
    track->task = lane->x->query->tasks[lane->slot];
    track->is_known = cn_alloc(rec->function_count + 2u, sizeof(*track->is_known));
    at = open_packet(lane, lane->task->time_ns, CN_PERFETTO_STATE_CLEARED);
    interned = cn_pb_open(&track->pb, cn_perfetto_packet_interned_data);
    for (unsigned i = ARGUMENTS; i <= COUNT; i++)
        intern(&track->pb, cn_perfetto_interned_annotation_names, i, annotation_names[i]);
    cn_pb_close(&track->pb, interned);
    close_packet(lane, at);
    if (lane->task->is_fork && lane->task->parent != CN_NONE) {
        add_flow(lane, &rec->tasks[lane->task->parent], "forks",
                 cn_perfetto_event_flow_ids);
        add_flow(lane, lane->task, "was forked", cn_perfetto_event_terminating_flow_ids);
    }
}

static void end_lane(struct cn_lane *lane)
{
    struct track *track = lane->own;

    cn_pb_done(&track->pb);
    free(track->is_known);
    free(track);
}

static void add_new_name(struct cn_lane *lane, const struct cn_span *span)
{
    struct track *track = lane->own;
    size_t at;

    if (track->is_known[span->function])
        return;
    track->is_known[span->function] = true;
    at = cn_pb_open(&track->pb, cn_perfetto_packet_interned_data);
    intern(&track->pb, cn_perfetto_interned_event_names, span->function + 1u,
           cn_span_name(lane->x->query->rec, span, NULL));
    cn_pb_close(&track->pb, at);
}

static void add_begin(struct cn_lane *lane, const struct cn_span *span)
{
    const struct cn_recording *rec = lane->x->query->rec;
    struct track *track = lane->own;
    struct cn_pb *pb = &track->pb;
    bool has_number = span->function < rec->function_count + 2;
    char buffer[CN_CALL_NAME_MAX];
    size_t at = open_packet(lane, span->time_ns, CN_PERFETTO_NEEDS_STATE), event;

    if (has_number)
        add_new_name(lane, span);
    event = cn_pb_open(pb, cn_perfetto_packet_track_event);
    cn_pb_u64(pb, cn_perfetto_event_type, CN_PERFETTO_BEGIN);
    cn_pb_u64(pb, cn_perfetto_event_track_uuid, thread_uuid(lane->task));
    if (has_number)
        cn_pb_u64(pb, cn_perfetto_event_name_iid, span->function + 1u);
    else
        cn_pb_str(pb, cn_perfetto_event_name, cn_span_name(rec, span, buffer));
    if (cn_span_has_values(span)) {
        cn_span_values(rec, track->task, span, &lane->scratch);
        annotate(pb, ARGUMENTS, cn_text_str(&lane->scratch));
    }
    cn_pb_close(pb, event);
    close_packet(lane, at);
}

static void add_end(struct cn_lane *lane, const struct cn_span *span)
{
    struct track *track = lane->own;
    struct cn_pb *pb = &track->pb;
    size_t at = open_packet(lane, span->time_ns, CN_PERFETTO_NEEDS_STATE);
    size_t event = cn_pb_open(pb, cn_perfetto_packet_track_event);

    cn_pb_u64(pb, cn_perfetto_event_type, CN_PERFETTO_END);
    cn_pb_u64(pb, cn_perfetto_event_track_uuid, thread_uuid(lane->task));
    if (cn_span_has_values(span)) {
        cn_span_values(lane->x->query->rec, track->task, span, &lane->scratch);
        annotate(pb, RESULT, cn_text_str(&lane->scratch));
    }
    cn_pb_close(pb, event);
    close_packet(lane, at);
}

static void add_event(struct cn_lane *lane, const struct cn_span *span)
{
    const struct cn_recording *rec = lane->x->query->rec;
    struct track *track = lane->own;
    struct cn_pb *pb = &track->pb;
    size_t at = open_packet(lane, span->time_ns, CN_PERFETTO_NEEDS_STATE), inner;
    size_t event = cn_pb_open(pb, cn_perfetto_packet_track_event);

    cn_pb_u64(pb, cn_perfetto_event_type, CN_PERFETTO_INSTANT);
    cn_pb_u64(pb, cn_perfetto_event_track_uuid, thread_uuid(lane->task));
    cn_pb_str(pb, cn_perfetto_event_name, cn_span_event_name(rec, span));
    if (span->kind == CN_SPAN_LOST) {
        inner = cn_pb_open(pb, cn_perfetto_event_debug_annotations);
        cn_pb_u64(pb, cn_perfetto_annotation_name_iid, COUNT);
        cn_pb_u64(pb, cn_perfetto_annotation_uint_value, span->address);
        cn_pb_close(pb, inner);
    } else if (cn_span_event_data(rec, span, &lane->scratch)) {
        annotate(pb, DATA, cn_text_str(&lane->scratch));
    }
    cn_pb_close(pb, event);
    close_packet(lane, at);
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_lane *lane = arg;

    switch ((enum cn_span_kind)span->kind) {
    case CN_SPAN_BEGIN:
        add_begin(lane, span);
        break;
    case CN_SPAN_END:
        lane->counts.without_begin += !span->has_begin;
        if (span->has_begin)
            add_end(lane, span);
        break;
    case CN_SPAN_EVENT:
        add_event(lane, span);
        break;
    case CN_SPAN_LOST:
        lane->counts.lost += span->address;
        add_event(lane, span);
        break;
    }
}

static void add_clock(struct cn_pb *pb, unsigned clock, uint64_t time_ns)
{
    size_t at = cn_pb_open(pb, cn_perfetto_snapshot_clocks);

    cn_pb_u64(pb, cn_perfetto_clock_clock_id, clock);
    cn_pb_u64(pb, cn_perfetto_clock_timestamp, time_ns);
    cn_pb_close(pb, at);
}

/* Packets of all come before those of tasks, in a sequence of their own. */
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
    size_t at, inner;

    if (offset_ns == 0)
        return;
    at = open_shared(x, pb);
    inner = cn_pb_open(pb, cn_perfetto_packet_clock_snapshot);
    add_clock(pb, CN_PERFETTO_CLOCK_BOOTTIME, start_ns);
    add_clock(pb, CN_PERFETTO_CLOCK_REALTIME, start_ns + offset_ns);
    cn_pb_close(pb, inner);
    cn_pb_close(pb, at);
}

static void add_process(const struct cn_export *x, struct cn_pb *pb,
                        const struct cn_task *task)
{
    size_t at = open_shared(x, pb);
    size_t track = cn_pb_open(pb, cn_perfetto_packet_track_descriptor), inner;

    cn_pb_u64(pb, cn_perfetto_track_uuid, process_uuid(task));
    inner = cn_pb_open(pb, cn_perfetto_track_process);
    cn_pb_u64(pb, cn_perfetto_process_pid, task->pid);
    cn_pb_str(pb, cn_perfetto_process_process_name, task->name);
    cn_pb_close(pb, inner);
    cn_pb_close(pb, track);
    cn_pb_close(pb, at);
}

static void add_thread(const struct cn_export *x, struct cn_pb *pb,
                       const struct cn_task *task)
{
    size_t at = open_shared(x, pb);
    size_t track = cn_pb_open(pb, cn_perfetto_packet_track_descriptor), inner;

    cn_pb_u64(pb, cn_perfetto_track_uuid, thread_uuid(task));
    cn_pb_u64(pb, cn_perfetto_track_parent_uuid, process_uuid(task));
    inner = cn_pb_open(pb, cn_perfetto_track_thread);
    cn_pb_u64(pb, cn_perfetto_thread_pid, task->pid);
    cn_pb_u64(pb, cn_perfetto_thread_tid, task->tid);
    cn_pb_str(pb, cn_perfetto_thread_thread_name, task->name);
    cn_pb_close(pb, inner);
    cn_pb_close(pb, track);
    cn_pb_close(pb, at);
}

static bool write_trace(struct cn_export *x, struct cn_error *err)
{
    static const struct cn_lane_ops ops = {
        .begin = begin_lane, .visit = visit, .end = end_lane};
    const struct cn_call_query *query = x->query;
    struct cn_lane_counts counts;
    struct cn_map processes = {0};
    struct cn_pb pb = {0};
    bool ok;

    add_clocks(x, &pb);
    for (uint32_t i = 0; i < query->task_count; i++) {
        const struct cn_task *task = &query->rec->tasks[query->tasks[i]];

        if (cn_map_find(&processes, task->pid, 0) == 0)
            add_process(x, &pb, task);
        *cn_map_at(&processes, task->pid, 0) = 1;
        add_thread(x, &pb, task);
    }
    ok = cn_sink_write(&x->sink, pb.bytes, pb.len, err) &&
         cn_export_lanes(x, &ops, NULL, &counts, err);
    cn_map_done(&processes);
    cn_pb_done(&pb);
    if (ok)
        cn_export_lose_counts(x, &counts, true, true);
    return ok;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_trace, false, err);
}

const struct cn_format cn_format_perfetto = {
    .name = "perfetto",
    .summary = "trace of Perfetto: every call, values, events, processes, forks",
    .holds = "calls",
    .is_file = true,
    .write_calls = write_calls,
};
