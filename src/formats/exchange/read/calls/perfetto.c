/* Reader of Perfetto traces: track events (slices, instants with flows, counters) and the tracks
 * they are on. Names are interned for each sequence of packets; a sequence may have a clock of its
 * own. Packets of other data sources are skipped and counted. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/map.h"
#include "formats/exchange/perfetto_format.h"
#include "formats/exchange/read/calls/import.h"
#include "formats/exchange/read/lines.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/calls/recording.h"

/* A sequence of packets. */
struct perfetto_sequence {
    uint64_t default_track;
    uint32_t default_clock; /* 0: boot time */
    struct sequence_clock {
        uint32_t id;
        bool is_incremental;
        uint64_t unit_ns;
        uint64_t
            offset_ns; /* boot time minus this clock; or the time of the last packet */
    } * clocks;
    size_t clock_count, clock_capacity;
};

struct perfetto_track {
    uint64_t uuid, parent;
    uint64_t pid, tid;
    bool has_process, has_thread, is_counter;
    char *name;
    uint32_t track; /* of the import; CN_NONE: none yet */
    uint32_t counter;
};

struct track_event {
    uint64_t type, track, name_iid;
    bool has_track, has_value;
    struct cn_bytes name;
    double value;
    struct event_flow {
        uint64_t id;
        bool ends;
    } * flows;
    size_t flow_count, flow_capacity;
};

/* The packet that is read: its parts in any order. */
struct perfetto_packet {
    uint64_t time, sequence, flags;
    uint32_t clock;
    bool has_time, has_event, has_track, is_known;
    struct cn_pb_field event, track, interned, defaults, snapshot;
};

struct perfetto_reading {
    struct cn_call_import *import;
    struct perfetto_sequence **sequences;
    struct perfetto_track *tracks;
    size_t sequence_count, sequence_capacity, track_count, track_capacity;
    struct cn_map sequence_of, track_of;
    struct cn_map name_of; /* by sequence and iid: name of the import */
    struct perfetto_sequence *at;
    uint64_t sequence_id;
    struct perfetto_packet packet;
    struct track_event event;
    uint64_t realtime_ns, boottime_ns; /* of the first snapshot that has both */
    uint64_t call_count, skipped_count, other_count, excess_count;
    struct cn_pb_reader *top;
};

static struct perfetto_sequence *sequence_of(struct perfetto_reading *r, uint64_t id)
{
    uint32_t at = *cn_map_at(&r->sequence_of, id, (uint32_t)r->sequence_count);

    if (at == r->sequence_count) {
        CN_PUSH(r->sequences, r->sequence_count, r->sequence_capacity,
                cn_alloc(1, sizeof(**r->sequences)));
    }
    return r->sequences[at];
}

static struct perfetto_track *track_of(struct perfetto_reading *r, uint64_t uuid)
{
    uint32_t at = *cn_map_at(&r->track_of, uuid, (uint32_t)r->track_count);

    if (at == r->track_count) {
        CN_PUSH(
            r->tracks, r->track_count, r->track_capacity,
            (struct perfetto_track){.uuid = uuid, .track = CN_NONE, .counter = CN_NONE});
    }
    return &r->tracks[at];
}

static bool take_packet(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct perfetto_packet *packet = arg;

    (void)reader, (void)err;
    switch (field->number) {
    case cn_perfetto_packet_timestamp:
        packet->time = field->value;
        packet->has_time = true;
        return true;
    case cn_perfetto_packet_clock_id:
        packet->clock = field->value < UINT32_MAX ? (uint32_t)field->value : UINT32_MAX;
        return true;
    case cn_perfetto_packet_sequence_id:
        packet->sequence = field->value;
        return true;
    case cn_perfetto_packet_sequence_flags:
        packet->flags = field->value;
        return true;
    case cn_perfetto_packet_track_event:
        packet->event = *field;
        packet->has_event = true;
        break;
    case cn_perfetto_packet_track_descriptor:
        packet->track = *field;
        packet->has_track = true;
        break;
    case cn_perfetto_packet_interned_data:
        packet->interned = *field;
        break;
    case cn_perfetto_packet_defaults:
        packet->defaults = *field;
        break;
    case cn_perfetto_packet_clock_snapshot:
        packet->snapshot = *field;
        break;
    default:
        return true;
    }
    packet->is_known = true;
    return true;
}

/* The text and number of an interned name, or a pair of numbers. */
struct entry {
    uint64_t numbers[8];
    struct cn_bytes text;
};

static bool take_entry(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct entry *entry = arg;

    (void)reader, (void)err;
    if (field->wire == CN_PB_BYTES)
        entry->text = field->bytes;
    else if (field->number < sizeof(entry->numbers) / sizeof(*entry->numbers))
        entry->numbers[field->number] = field->value;
    return true;
}

/* The key of a number in a sequence. */
static uint64_t key_of(uint64_t sequence, uint64_t iid)
{
    return sequence * UINT64_C(0x9e3779b97f4a7c15) ^ iid;
}

static bool take_interned(void *arg, const struct cn_pb_reader *reader,
                          struct cn_pb_field *field, struct cn_error *err)
{
    struct perfetto_reading *r = arg;
    struct entry entry = {.text = {(const uint8_t *)"", 0}};

    if (field->number != cn_perfetto_interned_event_names)
        return true;
    if (!cn_pb_read_message(reader, field, take_entry, &entry, err))
        return false;
    *cn_map_at(&r->name_of, key_of(r->sequence_id, entry.numbers[cn_perfetto_name_iid]),
               0) = cn_call_import_name(r->import, entry.text);
    return true;
}

static bool take_default_event(void *arg, const struct cn_pb_reader *reader,
                               struct cn_pb_field *field, struct cn_error *err)
{
    struct perfetto_reading *r = arg;

    (void)reader, (void)err;
    if (field->number == cn_perfetto_event_track_uuid)
        r->at->default_track = field->value;
    return true;
}

static bool take_defaults(void *arg, const struct cn_pb_reader *reader,
                          struct cn_pb_field *field, struct cn_error *err)
{
    struct perfetto_reading *r = arg;

    if (field->number == cn_perfetto_defaults_clock_id)
        r->at->default_clock = field->value < UINT32_MAX ? (uint32_t)field->value : 0;
    return field->number != cn_perfetto_defaults_track_event ||
           cn_pb_read_message(reader, field, take_default_event, r, err);
}

/* Clocks of the same moment. */
struct snapshot {
    struct perfetto_reading *r;
    uint64_t boottime_ns, realtime_ns;
    struct entry own[CN_PERFETTO_CLOCK_OWN_END - CN_PERFETTO_CLOCK_OWN];
};

static bool take_clock(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct snapshot *s = arg;
    struct entry entry = {0};
    uint64_t id, time;

    if (field->number != cn_perfetto_snapshot_clocks)
        return true;
    if (!cn_pb_read_message(reader, field, take_entry, &entry, err))
        return false;
    id = entry.numbers[cn_perfetto_clock_clock_id];
    time = entry.numbers[cn_perfetto_clock_timestamp];
    if (id == CN_PERFETTO_CLOCK_BOOTTIME)
        s->boottime_ns = time;
    else if (id == CN_PERFETTO_CLOCK_REALTIME)
        s->realtime_ns = time;
    else if (id >= CN_PERFETTO_CLOCK_OWN && id < CN_PERFETTO_CLOCK_OWN_END)
        s->own[id - CN_PERFETTO_CLOCK_OWN] = entry;
    return true;
}

static struct sequence_clock *find_clock(const struct perfetto_sequence *sequence,
                                         uint32_t id)
{
    for (size_t i = 0; i < sequence->clock_count; i++)
        if (sequence->clocks[i].id == id)
            return &sequence->clocks[i];
    return NULL;
}

static bool read_snapshot(struct perfetto_reading *r, struct cn_error *err)
{
    struct snapshot *s = cn_alloc(1, sizeof(*s));
    bool ok;

    s->r = r;
    ok = cn_pb_read_message(r->top, &r->packet.snapshot, take_clock, s, err);
    if (ok && r->realtime_ns == 0 && s->realtime_ns > s->boottime_ns) {
        r->realtime_ns = s->realtime_ns;
        r->boottime_ns = s->boottime_ns;
    }
    for (uint32_t i = 0; i < CN_COUNT_OF(s->own) && ok; i++) {
        const uint64_t *numbers = s->own[i].numbers;
        uint64_t unit_ns = numbers[cn_perfetto_clock_unit_ns];
        struct sequence_clock clock = {
            .id = CN_PERFETTO_CLOCK_OWN + i,
            .is_incremental = numbers[cn_perfetto_clock_is_incremental] != 0,
            .unit_ns = unit_ns > 0 ? unit_ns : 1,
            .offset_ns = s->boottime_ns,
        };
        struct sequence_clock *known = find_clock(r->at, clock.id);

        if (numbers[cn_perfetto_clock_clock_id] == 0)
            continue;
        if (!clock.is_incremental)
            clock.offset_ns -= numbers[cn_perfetto_clock_timestamp] * clock.unit_ns;
        if (known) {
            *known = clock;
        } else {
            CN_PUSH(r->at->clocks, r->at->clock_count, r->at->clock_capacity, clock);
        }
    }
    free(s);
    return ok;
}

/* The time of the packet, in boot time. */
static uint64_t packet_time(struct perfetto_reading *r)
{
    uint32_t id = r->packet.clock ? r->packet.clock : r->at->default_clock;
    struct sequence_clock *clock = find_clock(r->at, id);
    uint64_t time_ns = r->packet.time;

    if (!clock)
        return time_ns;
    time_ns = time_ns * clock->unit_ns + clock->offset_ns;
    if (clock->is_incremental)
        clock->offset_ns = time_ns;
    return time_ns;
}

/* The fields of a process or a thread of a track. */
struct track_owner {
    uint64_t numbers[4];
    struct cn_bytes name;
    uint32_t name_field;
};

static bool take_owner(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct track_owner *owner = arg;

    (void)reader, (void)err;
    if (field->wire == CN_PB_VARINT &&
        field->number < sizeof(owner->numbers) / sizeof(*owner->numbers))
        owner->numbers[field->number] = field->value;
    else if (field->wire == CN_PB_BYTES && field->number == owner->name_field)
        owner->name = field->bytes;
    return true;
}

static bool take_track(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct perfetto_track *track = arg;
    bool is_thread = field->number == cn_perfetto_track_thread;
    struct track_owner owner = {.name_field = is_thread
                                                  ? cn_perfetto_thread_thread_name
                                                  : cn_perfetto_process_process_name};

    switch (field->number) {
    case cn_perfetto_track_uuid:
        track->uuid = field->value;
        return true;
    case cn_perfetto_track_parent_uuid:
        track->parent = field->value;
        return true;
    case cn_perfetto_track_counter:
        track->is_counter = true;
        return true;
    case cn_perfetto_track_name:
        owner.name = field->bytes;
        break;
    case cn_perfetto_track_process:
    case cn_perfetto_track_thread:
        if (!cn_pb_read_message(reader, field, take_owner, &owner, err))
            return false;
        track->has_thread |= is_thread;
        track->has_process |= !is_thread;
        track->pid = owner.numbers[cn_perfetto_thread_pid];
        if (is_thread)
            track->tid = owner.numbers[cn_perfetto_thread_tid];
        break;
    default:
        return true;
    }
    if (owner.name.len > 0) {
        free(track->name);
        track->name = cn_word_copy(owner.name);
    }
    return true;
}

static struct cn_bytes name_bytes(const struct perfetto_track *track)
{
    return (struct cn_bytes){(const uint8_t *)(track->name ? track->name : ""),
                             track->name ? strlen(track->name) : 0};
}

/* A thread and a process are made when they are described: empty ones are tasks as well. */
static bool read_track(struct perfetto_reading *r, struct cn_error *err)
{
    struct perfetto_track found = {.track = CN_NONE, .counter = CN_NONE}, *track;
    bool ok = cn_pb_read_message(r->top, &r->packet.track, take_track, &found, err);

    track = ok ? track_of(r, found.uuid) : NULL;
    if (!ok) {
        free(found.name);
        return false;
    }
    found.track = track->track;
    found.counter = track->counter;
    free(track->name);
    *track = found;
    if (found.has_process)
        cn_call_import_process_name(r->import, found.pid, name_bytes(track));
    if (!found.has_thread)
        return true;
    if (!cn_call_import_track(r->import, found.pid, found.tid, (struct cn_bytes){0},
                              &track->track, err))
        return false;
    cn_call_import_track_name(r->import, track->track, name_bytes(track));
    return true;
}

/* The track of the import: that of a thread, or one of its own in the process around it. */
static bool find_track(struct perfetto_reading *r, uint64_t uuid, uint32_t *out,
                       struct cn_error *err)
{
    struct perfetto_track *track = track_of(r, uuid);
    uint64_t above = track->parent, pid = track->pid;
    bool is_thread_counter = false;

    for (int i = 0; i < CN_PB_DEPTH_MAX && above != 0 && track->track == CN_NONE; i++) {
        struct perfetto_track *parent = track_of(r, above);

        track = track_of(r, uuid); /* the list may have moved */
        pid = pid ? pid : parent->pid;
        if (track->is_counter && parent->track != CN_NONE && !is_thread_counter) {
            *out = parent->track;
            is_thread_counter = true;
        }
        above = parent->parent;
    }
    if (is_thread_counter)
        return true;
    if (track->track == CN_NONE) {
        if (!cn_call_import_track(r->import, pid, 0,
                                  (struct cn_bytes){(const uint8_t *)&uuid, sizeof(uuid)},
                                  out, err))
            return false;
        track->track = *out;
        if (track->name)
            cn_call_import_track_name(r->import, *out, name_bytes(track));
    }
    *out = track->track;
    return true;
}

static bool take_event(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    struct track_event *event = arg;

    (void)reader, (void)err;
    switch (field->number) {
    case cn_perfetto_event_type:
        event->type = field->value;
        break;
    case cn_perfetto_event_track_uuid:
        event->track = field->value;
        event->has_track = true;
        break;
    case cn_perfetto_event_name_iid:
        event->name_iid = field->value;
        break;
    case cn_perfetto_event_name:
        event->name = field->bytes;
        break;
    case cn_perfetto_event_counter_value:
        event->value = (double)cn_pb_as_i64(field->value);
        event->has_value = true;
        break;
    case cn_perfetto_event_double_counter_value:
        event->value = cn_pb_as_f64(field->value);
        event->has_value = true;
        break;
    case cn_perfetto_event_flow_ids:
    case cn_perfetto_event_terminating_flow_ids:
        if (field->wire == CN_PB_FIXED64) {
            CN_PUSH(event->flows, event->flow_count, event->flow_capacity,
                    (struct event_flow){field->value,
                                        field->number ==
                                            cn_perfetto_event_terminating_flow_ids});
        }
        break;
    default:
        break;
    }
    return true;
}

static uint32_t event_name(struct perfetto_reading *r)
{
    const struct track_event *event = &r->event;

    if (event->name.len > 0 || event->name_iid == 0)
        return cn_call_import_name(
            r->import,
            event->name.len > 0
                ? event->name
                : (struct cn_bytes){(const uint8_t *)"[unknown]", strlen("[unknown]")});
    return *cn_map_at(
        &r->name_of, key_of(r->sequence_id, event->name_iid),
        cn_call_import_name(r->import, (struct cn_bytes){(const uint8_t *)"[unknown]",
                                                         strlen("[unknown]")}));
}

static bool add_reading(struct perfetto_reading *r, uint32_t track, uint64_t uuid,
                        uint64_t time_ns, struct cn_error *err)
{
    struct perfetto_track *about = track_of(r, uuid);

    if (about->counter == CN_NONE)
        about->counter = cn_call_import_counter(r->import, name_bytes(about));
    if (about->counter == CN_NONE || !r->event.has_value || !isfinite(r->event.value)) {
        r->excess_count++;
        return true;
    }
    return cn_call_import_reading(r->import, track, time_ns, about->counter,
                                  r->event.value, err);
}

static bool read_event(struct perfetto_reading *r, struct cn_error *err)
{
    struct track_event *event = &r->event;
    uint64_t time_ns = packet_time(r), uuid;
    uint32_t track, name = CN_NONE;

    *event = (struct track_event){.flows = event->flows,
                                  .flow_capacity = event->flow_capacity};
    if (!cn_pb_read_message(r->top, &r->packet.event, take_event, event, err))
        return false;
    uuid = event->has_track ? event->track : r->at->default_track;
    if (!find_track(r, uuid, &track, err))
        return false;
    if (event->type == CN_PERFETTO_BEGIN || event->flow_count > 0)
        name = event_name(r);
    for (size_t i = 0; i < event->flow_count; i++)
        if (!cn_call_import_flow(r->import, track, time_ns,
                                 event->flows[i].ends ? CN_FLOW_END : CN_FLOW_STEP,
                                 event->flows[i].id, name, err))
            return false;
    if (event->type == CN_PERFETTO_COUNTER)
        return add_reading(r, track, uuid, time_ns, err);
    r->call_count += event->type == CN_PERFETTO_BEGIN;
    r->skipped_count += event->type != CN_PERFETTO_BEGIN &&
                        event->type != CN_PERFETTO_END && event->flow_count == 0;
    if (event->type == CN_PERFETTO_END)
        return cn_call_import_end(r->import, track, time_ns, err);
    return event->type != CN_PERFETTO_BEGIN ||
           cn_call_import_add(r->import, track, time_ns, CN_CALL_BEGIN, name, err);
}

static bool read_packet(void *arg, const struct cn_pb_reader *reader,
                        struct cn_pb_field *field, struct cn_error *err)
{
    struct perfetto_reading *r = arg;
    struct cn_pb_reader top = *reader;

    if (field->number != cn_perfetto_trace_packet)
        return true;
    r->top = &top;
    r->packet = (struct perfetto_packet){0};
    if (!cn_pb_read_message(reader, field, take_packet, &r->packet, err))
        return cn_fail_in(err, "packet at %" PRIu64, field->off);
    r->sequence_id = r->packet.sequence;
    r->at = sequence_of(r, r->sequence_id);
    if (r->packet.flags & CN_PERFETTO_STATE_CLEARED)
        r->at->default_track = r->at->default_clock = 0;
    r->other_count += !r->packet.is_known;
    if ((r->packet.snapshot.bytes.len > 0 && !read_snapshot(r, err)) ||
        (r->packet.defaults.bytes.len > 0 &&
         !cn_pb_read_message(&top, &r->packet.defaults, take_defaults, r, err)) ||
        (r->packet.interned.bytes.len > 0 &&
         !cn_pb_read_message(&top, &r->packet.interned, take_interned, r, err)) ||
        (r->packet.has_track && !read_track(r, err)) ||
        (r->packet.has_event && !read_event(r, err)))
        return cn_fail_in(err, "packet at %" PRIu64, field->off);
    return true;
}

static void done(struct perfetto_reading *r)
{
    for (size_t i = 0; i < r->sequence_count; i++) {
        free(r->sequences[i]->clocks);
        free(r->sequences[i]);
    }
    for (size_t i = 0; i < r->track_count; i++)
        free(r->tracks[i].name);
    free(r->sequences);
    free(r->tracks);
    free(r->event.flows);
    cn_map_done(&r->sequence_of);
    cn_map_done(&r->track_of);
    cn_map_done(&r->name_of);
}

static bool read_recording(struct cn_bytes bytes, bool is_mapped,
                           struct cn_recording **out, struct cn_error *err)
{
    struct perfetto_reading r = {.import = cn_call_import_new("perfetto")};
    struct cn_pb_reader reader = cn_pb_read(bytes);
    struct cn_error damage = {0};
    bool ok = cn_pb_read_fields(&reader, read_packet, &r, err);

    (void)is_mapped;
    /* Damage does not hide the calls before it. */
    if (!ok && err->kind == CN_ERR_FORMAT && r.call_count > 0) {
        damage = *err;
        ok = true;
    }
    if (ok && r.call_count == 0)
        ok = cn_fail(err, CN_ERR_FORMAT,
                     "a Perfetto trace without slices of track events: %" PRIu64
                     " packets of other kinds, as of ftrace, which cairn does not read",
                     r.other_count);
    done(&r);
    if (!ok) {
        cn_call_import_free(r.import);
        return false;
    }
    if (!cn_call_import_finish(r.import, r.realtime_ns - r.boottime_ns, out, err))
        return false;
    if (damage.kind != CN_ERR_NONE)
        cn_recording_warn(*out, true, "%s; read up to there", damage.text);
    if (r.skipped_count > 0)
        cn_recording_warn(*out, false,
                          "%" PRIu64
                          " events that are not calls, counters or flows are skipped",
                          r.skipped_count);
    if (r.other_count > 0)
        cn_recording_warn(*out, false,
                          "%" PRIu64 " packets that are not track events are skipped",
                          r.other_count);
    if (r.excess_count > 0)
        cn_recording_warn(*out, false, "%" PRIu64 " readings of counters are skipped",
                          r.excess_count);
    return true;
}

bool cn_perfetto_read(struct cn_bytes bytes, struct cn_recording **out,
                      struct cn_error *err)
{
    return read_recording(bytes, false, out, err);
}

bool cn_perfetto_open(struct cn_recording **out, const char *path,
                      const struct cn_recording_options *options, struct cn_error *err)
{
    (void)options;
    return cn_call_import_open(out, path, read_recording, err);
}

/* Packets alone, with a field that the first ones of all tracers have: a timestamp, a sequence,
 * clocks or the configuration. OTLP also has only field 1, but no such numbers inside. */
static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    struct cn_pb_reader reader = cn_pb_read(beginning);
    struct cn_error ignored;
    struct cn_pb_field field;
    size_t count = 0;

    (void)is_whole;
    while (cn_pb_next(&reader, &field, &ignored) == CN_PB_FIELD) {
        struct perfetto_packet packet = {0};

        if (field.number != cn_perfetto_trace_packet || field.wire != CN_PB_BYTES ||
            !cn_pb_read_message(&reader, &field, take_packet, &packet, &ignored))
            return false;
        if (packet.has_time || packet.sequence > 0)
            count++;
    }
    return count > 0;
}

bool cn_perfetto_probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}
