/* speedscope's JSON read. Frames are shared and may stand at the end, so the text is
 * read twice: for the frames, then for the profiles. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/json_reader.h"
#include "base/files/unpack.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/call_import.h"
#include "formats/exchange/read/import.h"
#include "formats/exchange/read/readers.h"
#include "model/calls/recording.h"

enum { NAME_MAX_LEN = 256 };

struct event {
    double at;
    uint32_t frame;
    bool is_open;
};

struct profile {
    bool is_evented, is_sampled;
    char name[NAME_MAX_LEN], unit[16];
    struct event *events;
    uint32_t *contexts; /* of samples */
    double *weights;
    size_t event_count, event_capacity, context_count, context_capacity;
    size_t weight_count, weight_capacity;
};

struct reading {
    struct cn_json_reader json;
    struct cn_import *import;     /* one of these is filled */
    struct cn_call_import *calls; /* with the events only */
    uint32_t *frames;             /* by number in the file: in the import */
    size_t frame_count, frame_capacity;
    uint32_t profile_count;
    struct profile profile;
};

static void copy_text(char *to, size_t room, struct cn_bytes text)
{
    (void)snprintf(to, room, "%.*s", (int)(text.len < room ? text.len : room - 1),
                   (const char *)text.ptr);
}

static bool read_frame(struct reading *r, struct cn_error *err)
{
    char file[4096] = "";
    struct cn_text name = {0};
    struct cn_json_token token;
    enum cn_json_kind kind;
    uint64_t line = 0;
    struct cn_import_frame frame;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        bool is_name = cn_json_is(&token, "name"), is_file = cn_json_is(&token, "file");
        bool is_line = cn_json_is(&token, "line");

        kind = cn_json_next(&r->json, &token, err);
        if (is_name && kind == CN_JSON_STRING && token.text.len < CN_IMPORT_NAME_MAX)
            cn_text_add(&name, (const char *)token.text.ptr, token.text.len);
        else if (is_file && kind == CN_JSON_STRING)
            copy_text(file, sizeof(file), token.text);
        else if (is_line && kind == CN_JSON_NUMBER)
            (void)cn_json_as_u64(token.text, &line);
        else if (!cn_json_skip(&r->json, kind, err))
            break;
    }
    frame = (struct cn_import_frame){.name = cn_text_str(&name),
                                     .module = "",
                                     .file = file,
                                     .line = line <= INT32_MAX ? (uint32_t)line : 0};
    r->frames =
        cn_grow(r->frames, r->frame_count, &r->frame_capacity, sizeof(*r->frames));
    r->frames[r->frame_count++] =
        r->import
            ? cn_import_frame(r->import, &frame)
            : cn_call_import_name(
                  r->calls, (struct cn_bytes){(const uint8_t *)frame.name, name.len});
    cn_text_done(&name);
    return kind == CN_JSON_OBJECT_END;
}

/* Go through an object: `take` is given each key and reads its value. */
typedef bool (*take_fn)(struct reading *r, const char *key, struct cn_error *err);

static bool read_object(struct reading *r, take_fn take, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        char key[32];

        copy_text(key, sizeof(key), token.text);
        if (!take(r, key, err))
            return false;
    }
    return kind == CN_JSON_OBJECT_END;
}

/* Go through an array of objects: `read` is called inside each. */
static bool read_array(struct reading *r,
                       bool (*read)(struct reading *, struct cn_error *),
                       struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    if (!cn_json_expect(&r->json, CN_JSON_ARRAY, "an array", err))
        return false;
    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_OBJECT)
        if (!read(r, err))
            return false;
    if (kind == CN_JSON_FAIL || kind == CN_JSON_ARRAY_END)
        return kind != CN_JSON_FAIL;
    return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": an object should be here",
                   token.off);
}

static bool skip_value(struct reading *r, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

    return cn_json_skip(&r->json, kind, err);
}

static bool take_shared(struct reading *r, const char *key, struct cn_error *err)
{
    return strcmp(key, "frames") == 0 ? read_array(r, read_frame, err)
                                      : skip_value(r, err);
}

static bool take_frames(struct reading *r, const char *key, struct cn_error *err)
{
    if (strcmp(key, "shared") != 0)
        return skip_value(r, err);
    return cn_json_expect(&r->json, CN_JSON_OBJECT, "an object", err) &&
           read_object(r, take_shared, err);
}

static bool check_frame(const struct reading *r, struct cn_bytes text, uint64_t off,
                        uint32_t *out, struct cn_error *err)
{
    uint64_t number;

    if (!cn_json_as_u64(text, &number) || number >= r->frame_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "JSON at %" PRIu64 ": '%.*s' is not one of %zu frames", off,
                       (int)(text.len < 40 ? text.len : 40), (const char *)text.ptr,
                       r->frame_count);
    *out = r->frames[number];
    return true;
}

static bool read_event(struct reading *r, struct cn_error *err)
{
    struct profile *p = &r->profile;
    struct event event = {.frame = UINT32_MAX};
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_KEY) {
        bool is_type = cn_json_is(&token, "type"), is_at = cn_json_is(&token, "at");
        bool is_frame = cn_json_is(&token, "frame");

        kind = cn_json_next(&r->json, &token, err);
        if (is_type && kind == CN_JSON_STRING)
            event.is_open = cn_json_is(&token, "O");
        else if (is_at && kind == CN_JSON_NUMBER)
            (void)cn_json_as_f64(token.text, &event.at);
        else if (is_frame && kind == CN_JSON_NUMBER) {
            if (!check_frame(r, token.text, token.off, &event.frame, err))
                return false;
        } else if (!cn_json_skip(&r->json, kind, err))
            return false;
    }
    if (kind != CN_JSON_OBJECT_END)
        return false;
    if (event.frame == UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "JSON at %zu: an event without a frame",
                       r->json.at);
    p->events =
        cn_grow(p->events, p->event_count, &p->event_capacity, sizeof(*p->events));
    p->events[p->event_count++] = event;
    return true;
}

/* Inside a stack: frames from the outermost on. */
static bool read_stack(struct reading *r, uint32_t *out, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;
    uint32_t context = 0, frame;
    size_t depth = 0;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_NUMBER) {
        if (!check_frame(r, token.text, token.off, &frame, err))
            return false;
        if (r->import && depth++ < CN_IMPORT_DEPTH_MAX)
            context = cn_import_call(r->import, context, frame);
    }
    if (kind == CN_JSON_FAIL)
        return false;
    *out = context;
    return kind == CN_JSON_ARRAY_END ||
           cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": a frame is a number",
                   token.off);
}

static bool read_samples(struct reading *r, struct cn_error *err)
{
    struct profile *p = &r->profile;
    struct cn_json_token token;
    enum cn_json_kind kind;

    if (!cn_json_expect(&r->json, CN_JSON_ARRAY, "an array", err))
        return false;
    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_ARRAY) {
        p->contexts = cn_grow(p->contexts, p->context_count, &p->context_capacity,
                              sizeof(*p->contexts));
        if (!read_stack(r, &p->contexts[p->context_count++], err))
            return false;
    }
    if (kind == CN_JSON_FAIL)
        return false;
    return kind == CN_JSON_ARRAY_END ||
           cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": a sample is an array",
                   token.off);
}

static bool read_weights(struct reading *r, struct cn_error *err)
{
    struct profile *p = &r->profile;
    struct cn_json_token token;
    enum cn_json_kind kind;

    if (!cn_json_expect(&r->json, CN_JSON_ARRAY, "an array", err))
        return false;
    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_NUMBER) {
        p->weights =
            cn_grow(p->weights, p->weight_count, &p->weight_capacity, sizeof(double));
        if (!cn_json_as_f64(token.text, &p->weights[p->weight_count++]))
            return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": no number",
                           token.off);
    }
    if (kind == CN_JSON_FAIL)
        return false;
    return kind == CN_JSON_ARRAY_END ||
           cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": a weight is a number",
                   token.off);
}

static bool take_text(struct reading *r, char *to, size_t room, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind = cn_json_next(&r->json, &token, err);

    if (kind == CN_JSON_STRING)
        copy_text(to, room, token.text);
    return cn_json_skip(&r->json, kind, err);
}

static bool take_of_profile(struct reading *r, const char *key, struct cn_error *err)
{
    struct profile *p = &r->profile;
    char type[16] = "";

    if (strcmp(key, "events") == 0)
        return read_array(r, read_event, err);
    if (strcmp(key, "samples") == 0)
        return read_samples(r, err);
    if (strcmp(key, "weights") == 0)
        return read_weights(r, err);
    if (strcmp(key, "name") == 0)
        return take_text(r, p->name, sizeof(p->name), err);
    if (strcmp(key, "unit") == 0)
        return take_text(r, p->unit, sizeof(p->unit), err);
    if (strcmp(key, "type") != 0)
        return skip_value(r, err);
    if (!take_text(r, type, sizeof(type), err))
        return false;
    p->is_evented = strcmp(type, "evented") == 0;
    p->is_sampled = strcmp(type, "sampled") == 0;
    return true;
}

/* Seconds that a unit is; 0 when it is no time. */
static double seconds_of(const char *unit)
{
    return strcmp(unit, "nanoseconds") == 0    ? 1e-9
           : strcmp(unit, "microseconds") == 0 ? 1e-6
           : strcmp(unit, "milliseconds") == 0 ? 1e-3
           : strcmp(unit, "seconds") == 0      ? 1
                                               : 0;
}

/* "PROCESS 12 THREAD 3" is an identity; anything else a name. */
static void identify(const struct reading *r, char *name,
                     struct cn_import_identity *identity)
{
    char *rest = NULL, *word;
    size_t count = 0;
    char copy[NAME_MAX_LEN];

    *identity = (struct cn_import_identity){
        .kinds = {"THREAD"}, .numbers = {r->profile_count}, .name = name};
    memcpy(copy, name, sizeof(copy));
    word = strtok_r(copy, " ", &rest);
    while (word && isupper((unsigned char)word[0]) && count < CN_IMPORT_KIND_MAX) {
        char *number = strtok_r(NULL, " ", &rest), *end;

        if (!number)
            return;
        identity->numbers[count] = strtoull(number, &end, 0);
        if (*end != '\0')
            break;
        identity->kinds[count++] = name + (word - copy);
        word = strtok_r(NULL, " ", &rest);
    }
    if (word || count == 0) {
        *identity = (struct cn_import_identity){
            .kinds = {"THREAD"}, .numbers = {r->profile_count}, .name = name};
        return;
    }
    for (size_t i = 0; i < count; i++)
        name[strcspn(identity->kinds[i], " ") + (size_t)(identity->kinds[i] - name)] =
            '\0';
    identity->name = "";
}

/* Time between events belongs to what is open. */
static bool add_events(struct reading *r, uint32_t thread, uint32_t metric, double scale,
                       struct cn_error *err)
{
    const struct profile *p = &r->profile;
    uint32_t *stack = cn_alloc(CN_IMPORT_DEPTH_MAX + 1, sizeof(*stack));
    size_t depth = 0;
    bool ok = true;

    for (size_t i = 0; i < p->event_count && ok; i++) {
        const struct event *event = &p->events[i];
        double spent = i > 0 ? event->at - p->events[i - 1].at : 0;

        if (spent > 0 && depth > 0)
            ok = cn_import_add(
                r->import, thread,
                stack[depth < CN_IMPORT_DEPTH_MAX ? depth : CN_IMPORT_DEPTH_MAX], metric,
                spent * scale, err);
        if (!event->is_open) {
            depth -= depth > 0;
            continue;
        }
        if (++depth <= CN_IMPORT_DEPTH_MAX)
            stack[depth] = cn_import_call(r->import, stack[depth - 1], event->frame);
    }
    free(stack);
    return ok;
}

static bool end_samples(struct reading *r, struct cn_error *err)
{
    struct profile *p = &r->profile;
    double scale = seconds_of(p->unit);
    struct cn_import_identity identity;
    uint32_t metric, thread;

    if (p->is_sampled && p->weight_count > 0 && p->weight_count != p->context_count)
        return cn_fail(err, CN_ERR_FORMAT, "%zu samples with %zu weights",
                       p->context_count, p->weight_count);
    identify(r, p->name, &identity);
    if (!cn_import_metric(r->import,
                          scale > 0                       ? "time (sec)"
                          : strcmp(p->unit, "bytes") == 0 ? "bytes"
                                                          : "samples",
                          &metric, err) ||
        !cn_import_thread(r->import, &identity, &thread, err))
        return false;
    if (scale == 0)
        scale = 1;
    for (size_t i = 0; i < p->context_count; i++)
        if (!cn_import_add(r->import, thread, p->contexts[i], metric,
                           (p->weight_count ? p->weights[i] : 1) * scale, err))
            return false;
    return add_events(r, thread, metric, scale, err);
}

/* "name (1234)": the number of the thread. */
static uint64_t take_tid(char *name, uint64_t otherwise)
{
    char *open = strrchr(name, '('), *end;
    uint64_t tid;

    if (!open || !isdigit((unsigned char)open[1]))
        return otherwise;
    tid = strtoull(open + 1, &end, 10);
    if (strcmp(end, ")") != 0)
        return otherwise;
    *open = '\0';
    if (open > name && open[-1] == ' ')
        open[-1] = '\0';
    return tid;
}

static bool end_calls(struct reading *r, struct cn_error *err)
{
    struct profile *p = &r->profile;
    double scale = seconds_of(p->unit) * 1e9;
    uint64_t tid = take_tid(p->name, r->profile_count + 1u);
    uint32_t track;

    if (!p->is_evented)
        return cn_fail(err, CN_ERR_USAGE, "profile '%s' holds samples, not calls",
                       p->name);
    if (!cn_call_import_track(r->calls, tid, tid, (struct cn_bytes){0}, &track, err))
        return false;
    cn_call_import_track_name(
        r->calls, track, (struct cn_bytes){(const uint8_t *)p->name, strlen(p->name)});
    for (size_t i = 0; i < p->event_count; i++) {
        double at = p->events[i].at * (scale > 0 ? scale : 1);
        uint64_t time_ns =
            at > 0 && at < (double)CN_CALL_TIME_MAX ? (uint64_t)(at + 0.5) : 0;

        if (!(p->events[i].is_open
                  ? cn_call_import_add(r->calls, track, time_ns, CN_CALL_BEGIN,
                                       p->events[i].frame, err)
                  : cn_call_import_end(r->calls, track, time_ns, err)))
            return false;
    }
    return true;
}

static bool read_profile(struct reading *r, struct cn_error *err)
{
    struct profile *p = &r->profile;

    p->event_count = p->context_count = p->weight_count = 0;
    p->is_evented = p->is_sampled = false;
    p->name[0] = p->unit[0] = '\0';
    if (!read_object(r, take_of_profile, err) ||
        !(r->import ? end_samples(r, err) : end_calls(r, err)))
        return cn_fail_in(err, "profile %" PRIu32, r->profile_count);
    r->profile_count++;
    return true;
}

static bool take_profiles(struct reading *r, const char *key, struct cn_error *err)
{
    return strcmp(key, "profiles") == 0 ? read_array(r, read_profile, err)
                                        : skip_value(r, err);
}

static bool read_whole(struct reading *r, struct cn_bytes bytes, take_fn take,
                       struct cn_error *err)
{
    struct cn_json_token token;
    bool ok;

    r->json = cn_json_read(bytes);
    ok = cn_json_expect(&r->json, CN_JSON_OBJECT, "an object", err) &&
         read_object(r, take, err) && cn_json_next(&r->json, &token, err) == CN_JSON_END;
    cn_json_reader_done(&r->json);
    return ok;
}

static bool read_both(struct reading *r, struct cn_bytes bytes, struct cn_error *err)
{
    bool ok = read_whole(r, bytes, take_frames, err) &&
              read_whole(r, bytes, take_profiles, err);

    free(r->frames);
    free(r->profile.events);
    free(r->profile.contexts);
    free(r->profile.weights);
    return ok;
}

bool cn_speedscope_read(struct cn_import *import, struct cn_bytes bytes,
                        struct cn_error *err)
{
    struct reading r = {.import = import};

    return read_both(&r, bytes, err);
}

bool cn_speedscope_read_calls(struct cn_bytes bytes, struct cn_recording **out,
                              struct cn_error *err)
{
    struct reading r = {.calls = cn_call_import_new("speedscope")};

    if (read_both(&r, bytes, err))
        return cn_call_import_finish(r.calls, 0, out, err);
    cn_call_import_free(r.calls);
    return false;
}

bool cn_speedscope_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "speedscope profile", cn_speedscope_read, err);
}

static bool open_calls(struct cn_recording **out, const char *path,
                       const struct cn_recording_options *options, struct cn_error *err)
{
    struct cn_unpacked file = {0};
    bool ok;

    (void)options;
    if (!cn_unpacked_open(&file, path, err))
        return false;
    ok = cn_speedscope_read_calls(file.bytes, out, err);
    cn_unpacked_close(&file);
    if (!ok)
        return cn_fail_in(err, "%s", path);
    (*out)->path = cn_arena_strdup(&(*out)->arena, path);
    return true;
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    static const char schema[] = "speedscope.app/file-format-schema.json";

    (void)is_whole;
    return memmem(beginning.ptr, beginning.len, schema, sizeof(schema) - 1) != NULL;
}

/* Whether a profile of this type is in the file. */
static bool has_type(struct cn_bytes bytes, const char *type)
{
    char text[2][40];

    (void)snprintf(text[0], sizeof(text[0]), "\"type\":\"%s\"", type);
    (void)snprintf(text[1], sizeof(text[1]), "\"type\": \"%s\"", type);
    return memmem(bytes.ptr, bytes.len, text[0], strlen(text[0])) ||
           memmem(bytes.ptr, bytes.len, text[1], strlen(text[1]));
}

/* Profiles of events and no others: calls. */
static bool holds_calls(const char *path)
{
    struct cn_unpacked file = {0};
    struct cn_error ignored;
    bool found;

    if (!cn_unpacked_open(&file, path, &ignored))
        return false;
    found = has_type(file.bytes, "evented") && !has_type(file.bytes, "sampled");
    cn_unpacked_close(&file);
    return found;
}

bool cn_speedscope_probe(const char *path)
{
    return cn_import_probe(path, looks_right) && !holds_calls(path);
}

static bool probe_calls(const char *path)
{
    return cn_import_probe(path, looks_right) && holds_calls(path);
}

const struct cn_format cn_format_speedscope_calls = {
    .name = "speedscope-calls",
    .summary = "JSON of speedscope with nothing but profiles of events",
    .holds = "calls",
    .is_file = true,
    .probe = probe_calls,
    .open_recording = open_calls,
};
