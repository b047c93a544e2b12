/* Reader of Chrome trace events: complete events (X), begins and ends (B, E), those of
 * asynchronous operations (b, e and the older S, F), counters (C), flows (s, t, f, and bind_id of
 * other events), names (M), JavaScript profiles (js.h), and work of GPUs (kineto.h). The file is an
 * object with "traceEvents", or an array, whose end may be missing. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/bytes/json_reader.h"
#include "base/files/file.h"
#include "formats/exchange/read/calls/import.h"
#include "formats/exchange/read/calls/js.h"
#include "formats/exchange/read/calls/kineto.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/calls/recording.h"

enum {
    NS_DIGITS = 3,         /* of microseconds */
    FORGET_LEN = 64 << 20, /* bytes after which pages of the file are dropped */
    LABEL_LEN_MAX = 200,
    TEXT_ID_BITS = 0x7fffffff /* of a pid or tid that is not a number */
};

/* A number in the arguments of a counter. */
struct series {
    char key[CN_JSON_KEY_MAX + 1];
    double value;
};

struct chrome_event {
    char phase;
    bool has_time, has_name, has_duration, has_tid;
    int64_t time_ns, duration_ns;
    uint64_t pid, tid;
    uint32_t name;
    uint64_t id;                                /* hash of id and category */
    uint64_t id_hash, category_hash, bind_hash; /* of flows */
    bool has_bind, flows_in, flows_out;
    struct cn_text tag;    /* of a name event: the name in its arguments */
    struct cn_text labels; /* category and id: the name of an asynchronous track */
    enum {
        NAMES_NOTHING,
        NAMES_PROCESS,
        NAMES_THREAD,
        NAMES_PROFILE, /* the event has a JavaScript profile, or a part of one */
    } names;
    uint64_t data_off; /* of an object "data" in the arguments; 0: none */
    struct cn_kineto_event gpu;

    /* Only while it may be a counter. */
    struct cn_text counter, counter_id;
    struct series *series;
    size_t series_count, series_capacity;
};

struct chrome_reading {
    struct cn_call_import *import;
    struct cn_json_reader json;
    struct chrome_event event;
    bool is_mapped; /* the bytes are a file, whose pages can be dropped */
    size_t forgotten;
    uint64_t base_ns;
    bool has_events;
    uint64_t event_count, other_count, early_count, excess_count;
    struct cn_text label; /* of a counter */
    struct cn_js_calls js;
    struct cn_kineto *kineto;
};

/* A pid or tid: a number, or the hash of a text. */
static uint64_t number_of(struct cn_bytes text)
{
    int64_t value;

    if (cn_json_as_i64(text, &value) && value >= 0)
        return (uint64_t)value;
    return text.len ? XXH3_64bits(text.ptr, text.len) & TEXT_ID_BITS : 0;
}

static void add_label(struct chrome_event *event, struct cn_bytes text)
{
    if (event->labels.len > 0)
        cn_text_char(&event->labels, ' ');
    cn_text_add(&event->labels, (const char *)text.ptr,
                text.len < LABEL_LEN_MAX ? text.len : LABEL_LEN_MAX);
    event->id = event->id * 31 + XXH3_64bits(text.ptr, text.len);
}

/* Copy a text for names: a control character is a space. */
static void copy_printable(struct cn_text *to, struct cn_bytes text)
{
    cn_text_clear(to);
    for (size_t i = 0; i < text.len && i < LABEL_LEN_MAX; i++)
        cn_text_char(to, text.ptr[i] < ' ' ? ' ' : (char)text.ptr[i]);
}

static bool may_be_counter(const struct chrome_event *event)
{
    return event->phase == 'C' || event->phase == '\0';
}

static void add_series(struct chrome_event *event, const struct cn_json_member *member)
{
    struct series series;

    if (!cn_json_as_f64(member->token.text, &series.value) || !isfinite(series.value))
        return;
    memcpy(series.key, member->key, sizeof(series.key));
    CN_PUSH(event->series, event->series_count, event->series_capacity, series);
}

static bool take_argument(void *arg, const struct cn_json_member *member,
                          struct cn_error *err)
{
    struct chrome_reading *r = arg;

    if (cn_json_key_is(member, "name") && member->kind == CN_JSON_STRING) {
        cn_text_clear(&r->event.tag);
        cn_text_add(&r->event.tag, (const char *)member->token.text.ptr,
                    member->token.text.len);
    }
    if (cn_json_key_is(member, "data") && member->kind == CN_JSON_OBJECT)
        r->event.data_off = member->token.off;
    if (member->kind == CN_JSON_NUMBER && may_be_counter(&r->event))
        add_series(&r->event, member);
    return cn_kineto_argument(&r->event.gpu, &r->json, member, err);
}

static bool read_time(const struct cn_json_token *token, int64_t *out,
                      struct cn_error *err)
{
    return cn_json_as_scaled(token->text, NS_DIGITS, out) ||
           cn_json_fail(token, "a time", err);
}

static void read_name(struct chrome_reading *r, const struct cn_json_token *token)
{
    r->event.has_name = true;
    r->event.names = cn_json_is(token, "process_name")  ? NAMES_PROCESS
                     : cn_json_is(token, "thread_name") ? NAMES_THREAD
                     : cn_json_is(token, "Profile") ||
                             cn_json_is(token, "ProfileChunk") ||
                             cn_json_is(token, "CpuProfile")
                         ? NAMES_PROFILE
                         : NAMES_NOTHING;
    if (may_be_counter(&r->event))
        copy_printable(&r->event.counter, token->text);
    cn_kineto_name(&r->event.gpu, token);
    if (r->event.phase != 'C')
        r->event.name = r->event.gpu.category == CN_KINETO_PYTHON
                            ? cn_kineto_function(r->import, token->text)
                            : cn_call_import_name(r->import, token->text);
}

enum field {
    OTHER,
    PHASE,
    NAME,
    TIME,
    DURATION,
    THREAD_DURATION, /* used if there is no other */
    PID,
    TID,
    CATEGORY,
    ID,
    BIND_ID,
    FLOW_IN,
    FLOW_OUT,
    ARGUMENTS
};

static enum field field_of(const struct cn_json_token *token)
{
    static const struct {
        const char *name;
        enum field field;
    } fields[] = {{"ph", PHASE},         {"name", NAME},
                  {"ts", TIME},          {"dur", DURATION},
                  {"pid", PID},          {"tid", TID},
                  {"cat", CATEGORY},     {"id", ID},
                  {"args", ARGUMENTS},   {"tdur", THREAD_DURATION},
                  {"bind_id", BIND_ID},  {"flow_in", FLOW_IN},
                  {"flow_out", FLOW_OUT}};

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (cn_json_is(token, fields[i].name))
            return fields[i].field;
    return OTHER;
}

static bool read_field(struct chrome_reading *r, enum field field, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind = cn_json_next(&r->json, &token, err);
    bool is_text = kind == CN_JSON_STRING || kind == CN_JSON_NUMBER;

    if (kind == CN_JSON_FAIL)
        return false;
    /* A name, the numbers of a counter, and what kineto.h reads are used. */
    if (field == ARGUMENTS && kind == CN_JSON_OBJECT)
        return cn_json_read_object(&r->json, take_argument, r, err);
    r->event.flows_in |= field == FLOW_IN && kind == CN_JSON_TRUE;
    r->event.flows_out |= field == FLOW_OUT && kind == CN_JSON_TRUE;
    if (field == OTHER || !is_text)
        return cn_json_skip(&r->json, kind, err);
    switch (field) {
    case PHASE:
        r->event.phase = token.text.len > 0 ? (char)token.text.ptr[0] : '\0';
        return true;
    case NAME:
        read_name(r, &token);
        return true;
    case TIME:
        r->event.has_time = true;
        return read_time(&token, &r->event.time_ns, err);
    case DURATION:
        r->event.has_duration = true;
        return read_time(&token, &r->event.duration_ns, err);
    case THREAD_DURATION:
        return r->event.has_duration || read_time(&token, &r->event.duration_ns, err);
    case PID:
        r->event.pid = number_of(token.text);
        return true;
    case TID:
        r->event.has_tid = true;
        r->event.tid = number_of(token.text);
        return true;
    case ID:
        if (may_be_counter(&r->event))
            copy_printable(&r->event.counter_id, token.text);
        r->event.id_hash = XXH3_64bits(token.text.ptr, token.text.len);
        add_label(&r->event, token.text);
        return true;
    case CATEGORY:
        cn_kineto_category(&r->event.gpu, &token);
        r->event.category_hash = XXH3_64bits(token.text.ptr, token.text.len);
        add_label(&r->event, token.text);
        return true;
    case BIND_ID:
        r->event.has_bind = true;
        r->event.bind_hash = XXH3_64bits(token.text.ptr, token.text.len);
        return true;
    case OTHER:
    case FLOW_IN:
    case FLOW_OUT:
    case ARGUMENTS:
        break;
    }
    return true;
}

static bool find_track(struct chrome_reading *r, bool is_async, uint32_t *out,
                       struct cn_error *err)
{
    struct chrome_event *event = &r->event;
    struct cn_bytes what = {(const uint8_t *)&event->id, sizeof(event->id)};

    if (!is_async)
        return cn_call_import_track(r->import, event->pid, event->tid,
                                    (struct cn_bytes){0}, out, err);
    if (!cn_call_import_track(r->import, event->pid, 0, what, out, err))
        return false;
    cn_call_import_track_name(
        r->import, *out,
        (struct cn_bytes){(const uint8_t *)event->labels.chars, event->labels.len});
    return true;
}

static bool take_name(struct chrome_reading *r, struct cn_error *err)
{
    struct cn_bytes name = {(const uint8_t *)cn_text_str(&r->event.tag),
                            r->event.tag.len};
    uint32_t track;

    if (r->event.names == NAMES_PROCESS)
        cn_call_import_process_name(r->import, r->event.pid, name);
    if (r->event.names != NAMES_THREAD)
        return true;
    if (!find_track(r, false, &track, err))
        return false;
    cn_call_import_track_name(r->import, track, name);
    return true;
}

/* A counter for each number: "NAME", "NAME: SERIES" or "NAME[ID]: SERIES". A series "value"
 * has no name: cairn writes that one. */
static uint32_t find_counter(struct chrome_reading *r, const struct series *series)
{
    const struct chrome_event *event = &r->event;

    cn_text_clear(&r->label);
    cn_text_str_add(&r->label, cn_text_str(&event->counter));
    if (event->counter_id.len > 0)
        cn_text_printf(&r->label, "[%s]", cn_text_str(&event->counter_id));
    if (strcmp(series->key, "value") != 0) {
        struct cn_bytes key = {(const uint8_t *)series->key, strlen(series->key)};
        struct cn_text name = {0};

        copy_printable(&name, key);
        cn_text_printf(&r->label, ": %s", cn_text_str(&name));
        cn_text_done(&name);
    }
    return cn_call_import_counter(
        r->import,
        (struct cn_bytes){(const uint8_t *)cn_text_str(&r->label), r->label.len});
}

/* The readings of a counter: of its thread, or of the main thread of its process. */
static bool take_counter(struct chrome_reading *r, struct cn_error *err)
{
    struct chrome_event *event = &r->event;
    uint32_t track;

    if (!event->has_tid)
        event->tid = event->pid;
    if (!find_track(r, false, &track, err))
        return false;
    for (size_t i = 0; i < event->series_count; i++) {
        uint32_t counter = find_counter(r, &event->series[i]);

        if (counter == CN_NONE)
            r->excess_count++;
        else if (!cn_call_import_reading(r->import, track, (uint64_t)event->time_ns,
                                         counter, event->series[i].value, err))
            return false;
    }
    return true;
}

/* A point of a flow, whose points have the same category, name and id. */
static bool take_flow(struct chrome_reading *r, struct cn_error *err)
{
    const struct chrome_event *event = &r->event;
    uint32_t name = event->has_name ? event->name : CN_NONE, track;
    uint64_t key[] = {event->id_hash, event->category_hash, name};

    return find_track(r, false, &track, err) &&
           cn_call_import_flow(r->import, track, (uint64_t)event->time_ns,
                               event->phase == 's'   ? CN_FLOW_START
                               : event->phase == 't' ? CN_FLOW_STEP
                                                     : CN_FLOW_END,
                               XXH3_64bits(key, sizeof(key)), name, err);
}

/* The call that was just added is an end of a flow. */
static bool bind_flow(struct chrome_reading *r, uint32_t track, struct cn_error *err)
{
    const struct chrome_event *event = &r->event;

    if (!event->has_bind || (!event->flows_in && !event->flows_out))
        return true;
    return cn_call_import_flow(r->import, track, (uint64_t)event->time_ns,
                               !event->flows_in   ? CN_FLOW_START
                               : event->flows_out ? CN_FLOW_STEP
                                                  : CN_FLOW_END,
                               event->bind_hash, CN_NONE, err);
}

struct profile_reading {
    struct cn_js_profile profile;
    struct cn_json_reader json;
};

static bool take_member(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct profile_reading *reading = arg;

    return cn_js_profile_take(&reading->profile, &reading->json, member, err);
}

/* A JavaScript profile, or a part of one: its data was skipped, as the name may come after it. */
static bool take_profile(struct chrome_reading *r, struct cn_error *err)
{
    const struct chrome_event *event = &r->event;
    struct profile_reading reading = {.json = cn_json_read(r->json.bytes)};

    reading.json.at = (size_t)event->data_off;
    bool ok = cn_json_expect(&reading.json, CN_JSON_OBJECT, "an object", err) &&
              cn_json_read_object(&reading.json, take_member, &reading, err);
    if (!reading.profile.has_start && event->has_time && event->time_ns >= 0) {
        reading.profile.has_start = true;
        reading.profile.start_us = event->time_ns / 1000;
    }
    if (ok)
        cn_js_profile_append(
            cn_js_calls_profile(&r->js, event->id_hash,
                                (struct cn_js_thread){event->pid, event->tid}),
            &reading.profile);
    cn_js_profile_done(&reading.profile);
    cn_json_reader_done(&reading.json);
    return ok;
}

static bool add_call(struct chrome_reading *r, uint32_t track, uint64_t duration_ns,
                     struct cn_error *err)
{
    return cn_call_import_add(r->import, track, (uint64_t)r->event.time_ns, duration_ns,
                              r->event.name, err) &&
           bind_flow(r, track, err);
}

/* A complete event of a category that traces of GPUs have. */
static bool take_gpu(struct chrome_reading *r, uint32_t track, uint64_t duration_ns,
                     struct cn_error *err)
{
    const struct chrome_event *event = &r->event;

    if (!cn_kineto_is_call(&event->gpu))
        r->other_count += event->gpu.category == CN_KINETO_SPAN;
    else if (!add_call(r, track, duration_ns, err))
        return false;
    if ((uint64_t)event->time_ns <= CN_CALL_TIME_MAX && duration_ns <= CN_CALL_TIME_MAX)
        cn_kineto_take(r->kineto, &event->gpu,
                       &(struct cn_kineto_span){event->pid, event->tid, track,
                                                event->name, (uint64_t)event->time_ns,
                                                duration_ns});
    return true;
}

static bool take_event(struct chrome_reading *r, struct cn_error *err)
{
    struct chrome_event *event = &r->event;
    char phase = event->phase;
    bool is_async = phase && strchr("beSF", phase);
    bool is_end = phase && strchr("EeF", phase), is_flow = phase && strchr("stf", phase);
    uint64_t duration_ns = CN_CALL_BEGIN;
    uint32_t track;

    if (phase == 'M')
        return take_name(r, err);
    if (event->names == NAMES_PROFILE && event->data_off > 0 &&
        (phase == 'P' || phase == 'I'))
        return take_profile(r, err);
    if (!phase || !strchr("XBEbeSFCstf", phase) ||
        (!event->has_name && !is_end && !is_flow) || !event->has_time ||
        (phase == 'C' && event->series_count == 0)) {
        r->other_count++;
        return true;
    }
    if (event->time_ns < 0) {
        r->early_count++;
        return true;
    }
    if (phase == 'C')
        return take_counter(r, err);
    if (is_flow)
        return event->gpu.category == CN_KINETO_ARROW || take_flow(r, err);
    if (!find_track(r, is_async, &track, err))
        return false;
    if (is_end)
        return cn_call_import_end(r->import, track, (uint64_t)event->time_ns, err);
    if (phase == 'X')
        duration_ns = event->duration_ns > 0 ? (uint64_t)event->duration_ns : 0;
    if (phase == 'X' && event->gpu.category > CN_KINETO_OTHER)
        return take_gpu(r, track, duration_ns, err);
    return add_call(r, track, duration_ns, err);
}

static bool read_event(struct chrome_reading *r, struct cn_error *err)
{
    struct chrome_event *event = &r->event;
    struct cn_json_token token;
    enum cn_json_kind kind;

    cn_text_clear(&event->tag);
    cn_text_clear(&event->labels);
    cn_text_clear(&event->counter);
    cn_text_clear(&event->counter_id);
    *event = (struct chrome_event){.tag = event->tag,
                                   .labels = event->labels,
                                   .counter = event->counter,
                                   .counter_id = event->counter_id,
                                   .series = event->series,
                                   .series_capacity = event->series_capacity};
    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY)
        if (!read_field(r, field_of(&token), err))
            return false;
    return kind == CN_JSON_OBJECT_END && take_event(r, err);
}

static void forget(struct chrome_reading *r)
{
    struct cn_bytes part;

    if (!r->is_mapped || r->json.at - r->forgotten < FORGET_LEN)
        return;
    if (cn_bytes_slice(r->json.bytes, r->forgotten, r->json.at - r->forgotten, &part))
        cn_file_forget(part);
    r->forgotten = r->json.at;
}

/* The rest of the array of events. With `may_end` its end may be missing. */
static bool read_events(struct chrome_reading *r, bool may_end, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) != CN_JSON_ARRAY_END) {
        if (kind == CN_JSON_FAIL)
            return may_end && r->json.depth == 1 && r->json.at >= r->json.bytes.len;
        if (kind != CN_JSON_OBJECT)
            return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected an event",
                           token.off);
        if (!read_event(r, err))
            return cn_fail_in(err, "event at %" PRIu64, token.off);
        r->event_count++;
        forget(r);
    }
    return true;
}

/* In files of cairn: the start of the recording, from which all times count. */
static bool take_metadata(void *arg, const struct cn_json_member *member,
                          struct cn_error *err)
{
    struct chrome_reading *r = arg;

    if (cn_json_key_is(member, "base_time_ns") && member->kind == CN_JSON_STRING)
        (void)cn_json_as_u64(member->token.text, &r->base_ns);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool take_file(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct chrome_reading *r = arg;

    if (cn_json_key_is(member, "traceEvents") && member->kind == CN_JSON_ARRAY) {
        r->has_events = true;
        return read_events(r, false, err);
    }
    if (cn_json_key_is(member, "deviceProperties") && member->kind == CN_JSON_ARRAY)
        return cn_kineto_devices(r->kineto, &r->json, err);
    if (cn_json_key_is(member, "baseTimeNanoseconds") && member->kind == CN_JSON_NUMBER)
        (void)cn_json_as_u64(member->token.text, &r->base_ns);
    if (cn_json_key_is(member, "samples") && member->kind == CN_JSON_ARRAY)
        return cn_js_calls_read_samples(&r->js, &r->json, err);
    if (cn_json_key_is(member, "stackFrames") && member->kind == CN_JSON_OBJECT)
        return cn_js_calls_read_frames(&r->js, &r->json, err);
    if (cn_json_key_is(member, "metadata") && member->kind == CN_JSON_OBJECT)
        return cn_json_read_object(&r->json, take_metadata, r, err);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_all(struct chrome_reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

    if (kind == CN_JSON_FAIL)
        return false;
    if (kind == CN_JSON_ARRAY)
        return read_events(r, true, err);
    if (kind != CN_JSON_OBJECT)
        return cn_fail(err, CN_ERR_FORMAT, "expected an object or an array");
    return cn_json_read_object(&r->json, take_file, r, err) &&
           (r->has_events || cn_fail(err, CN_ERR_FORMAT, "no array \"traceEvents\""));
}

static bool read_recording(struct cn_bytes bytes, bool is_mapped,
                           struct cn_recording **out, struct cn_error *err)
{
    struct chrome_reading r = {.import = cn_call_import_new("chrome"),
                               .json = cn_json_read(bytes),
                               .is_mapped = is_mapped,
                               .kineto = cn_kineto_new()};
    struct cn_error damage = {0};
    bool ok = read_all(&r, err);

    /* Damage does not hide the events before it. */
    if (!ok && err->kind == CN_ERR_FORMAT && r.event_count > 0) {
        damage = *err;
        ok = true;
    }
    ok = ok && cn_js_calls_add(&r.js, r.import, &damage, err);
    if (ok)
        cn_kineto_finish(r.kineto, r.import);
    cn_kineto_free(r.kineto);
    cn_js_calls_done(&r.js);
    cn_json_reader_done(&r.json);
    cn_text_done(&r.event.tag);
    cn_text_done(&r.event.labels);
    cn_text_done(&r.event.counter);
    cn_text_done(&r.event.counter_id);
    cn_text_done(&r.label);
    free(r.event.series);
    if (!ok) {
        cn_call_import_free(r.import);
        return false;
    }
    if (!cn_call_import_finish(r.import, r.base_ns, out, err))
        return false;
    if (damage.kind != CN_ERR_NONE)
        cn_recording_warn(*out, true, "%s; read up to there", damage.text);
    cn_kineto_warn(*out);
    if (r.other_count > 0)
        cn_recording_warn(*out, false,
                          "%" PRIu64
                          " events that are not calls, counters or flows are skipped",
                          r.other_count);
    if (r.js.unknown_count > 0)
        cn_recording_warn(*out, false,
                          "%" PRIu64
                          " samples of JavaScript functions that the trace does not name "
                          "are skipped",
                          r.js.unknown_count);
    if (r.early_count > 0)
        cn_recording_warn(*out, false, "%" PRIu64 " %s before time 0 skipped",
                          r.early_count, cn_plural(r.early_count, "event", "events"));
    if (r.excess_count > 0)
        cn_recording_warn(*out, false,
                          "%" PRIu64
                          " readings of counters after the first %d are skipped",
                          r.excess_count, CN_NAMED_COUNTER_MAX);
    return true;
}

bool cn_chrome_read(struct cn_bytes bytes, struct cn_recording **out,
                    struct cn_error *err)
{
    return read_recording(bytes, false, out, err);
}

bool cn_chrome_open(struct cn_recording **out, const char *path,
                    const struct cn_recording_options *options, struct cn_error *err)
{
    (void)options;
    return cn_call_import_open(out, path, read_recording, err);
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    size_t at = 0;

    (void)is_whole;
    while (at < beginning.len && strchr(" \t\r\n\xef\xbb\xbf", beginning.ptr[at]) &&
           beginning.ptr[at])
        at++;
    if (at == beginning.len)
        return false;
    if (beginning.ptr[at] == '[')
        return memmem(beginning.ptr, beginning.len, "\"ph\"", 4) != NULL;
    return beginning.ptr[at] == '{' &&
           memmem(beginning.ptr, beginning.len, "\"traceEvents\"", 13) != NULL;
}

bool cn_chrome_probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}
