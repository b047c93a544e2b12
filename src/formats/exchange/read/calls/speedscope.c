/* Reader of speedscope JSON. The shared frames may be at the end, so the text is read
 * twice: for the frames, then for the profiles. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/json_reader.h"
#include "base/duration.h"
#include "base/files/unpack.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/read/calls/import.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"
#include "model/calls/recording.h"

enum { NAME_MAX_LEN = 256 };

struct speedscope_event {
    double at;
    uint32_t frame;
    bool is_open;
};

struct speedscope_profile {
    bool is_evented;
    char name[NAME_MAX_LEN], unit[16];
    struct speedscope_event *events;
    uint32_t *contexts; /* of samples */
    double *weights;
    size_t event_count, event_capacity, context_count, context_capacity;
    size_t weight_count, weight_capacity;
};

struct speedscope_reading {
    struct cn_json_reader json;
    struct cn_import *import;     /* the target: this, or */
    struct cn_call_import *calls; /* this, for files with only evented profiles */
    uint32_t *frames;             /* by number in the file: in the import */
    size_t frame_count, frame_capacity;
    uint32_t profile_count;
    struct speedscope_profile profile;

    struct cn_text name; /* of the current frame */
    char file[4096];
    uint64_t line;
    struct speedscope_event event; /* the current one */
};

static void copy_text(char *to, size_t room, struct cn_bytes text)
{
    (void)snprintf(to, room, "%.*s", (int)(text.len < room ? text.len : room - 1),
                   (const char *)text.ptr);
}

static bool expect(const struct cn_json_member *member, enum cn_json_kind kind,
                   const char *what, struct cn_error *err)
{
    return member->kind == kind ||
           cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected %s",
                   member->token.off, what);
}

static bool take_frame(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct speedscope_reading *r = arg;
    struct cn_bytes text = member->token.text;

    if (member->kind == CN_JSON_STRING && cn_json_key_is(member, "name")) {
        if (text.len < CN_IMPORT_NAME_MAX)
            cn_text_add(&r->name, (const char *)text.ptr, text.len);
    } else if (member->kind == CN_JSON_STRING && cn_json_key_is(member, "file")) {
        copy_text(r->file, sizeof(r->file), text);
    } else if (member->kind == CN_JSON_NUMBER && cn_json_key_is(member, "line")) {
        (void)cn_json_as_u64(text, &r->line);
    }
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_frame(void *arg, uint64_t off, struct cn_error *err)
{
    struct speedscope_reading *r = arg;
    uint32_t frame;

    (void)off;
    cn_text_clear(&r->name);
    r->file[0] = '\0';
    r->line = 0;
    if (!cn_json_read_object(&r->json, take_frame, r, err))
        return false;
    if (r->import)
        frame = cn_import_frame(r->import,
                                &(struct cn_import_frame){
                                    .name = cn_text_str(&r->name),
                                    .module = "",
                                    .file = r->file,
                                    .line = r->line <= INT32_MAX ? (uint32_t)r->line : 0,
                                });
    else
        frame = cn_call_import_name(
            r->calls,
            (struct cn_bytes){(const uint8_t *)cn_text_str(&r->name), r->name.len});
    CN_PUSH(r->frames, r->frame_count, r->frame_capacity, frame);
    return true;
}

static bool take_shared(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct speedscope_reading *r = arg;

    if (!cn_json_key_is(member, "frames"))
        return cn_json_skip(&r->json, member->kind, err);
    return expect(member, CN_JSON_ARRAY, "an array", err) &&
           cn_json_read_objects(&r->json, read_frame, r, err);
}

/* The first pass over the file. */
static bool take_frames(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct speedscope_reading *r = arg;

    if (!cn_json_key_is(member, "shared"))
        return cn_json_skip(&r->json, member->kind, err);
    return expect(member, CN_JSON_OBJECT, "an object", err) &&
           cn_json_read_object(&r->json, take_shared, r, err);
}

static bool find_frame(const struct speedscope_reading *r,
                       const struct cn_json_token *token, uint32_t *out,
                       struct cn_error *err)
{
    uint64_t number;

    if (!cn_json_as_u64(token->text, &number) || number >= r->frame_count)
        return cn_json_fail(token, "the number of a frame", err);
    *out = r->frames[number];
    return true;
}

static bool take_event(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct speedscope_reading *r = arg;

    if (member->kind == CN_JSON_STRING && cn_json_key_is(member, "type"))
        r->event.is_open = cn_json_is(&member->token, "O");
    else if (member->kind == CN_JSON_NUMBER && cn_json_key_is(member, "at"))
        (void)cn_json_as_f64(member->token.text, &r->event.at);
    else if (member->kind == CN_JSON_NUMBER && cn_json_key_is(member, "frame"))
        return find_frame(r, &member->token, &r->event.frame, err);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_event(void *arg, uint64_t off, struct cn_error *err)
{
    struct speedscope_reading *r = arg;
    struct speedscope_profile *p = &r->profile;

    r->event = (struct speedscope_event){.frame = UINT32_MAX};
    if (!cn_json_read_object(&r->json, take_event, r, err))
        return false;
    if (r->event.frame == UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": the event has no frame",
                       off);
    CN_PUSH(p->events, p->event_count, p->event_capacity, r->event);
    return true;
}

/* The rest of an array of frames, from the outermost on. */
static bool read_stack(struct speedscope_reading *r, uint32_t *out, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;
    uint32_t context = 0, frame;
    size_t depth = 0;

    while ((kind = cn_json_next(&r->json, &token, err)) == CN_JSON_NUMBER) {
        if (!find_frame(r, &token, &frame, err))
            return false;
        if (r->import && depth++ < CN_IMPORT_DEPTH_MAX)
            context = cn_import_call(r->import, context, frame);
    }
    *out = context;
    return kind == CN_JSON_ARRAY_END ||
           (kind != CN_JSON_FAIL &&
            cn_fail(err, CN_ERR_FORMAT,
                    "JSON at %" PRIu64 ": expected the number of a frame", token.off));
}

/* The rest of the array of samples or of weights. */
static bool read_list(struct speedscope_reading *r, bool is_weights, struct cn_error *err)
{
    struct speedscope_profile *p = &r->profile;
    struct cn_json_token token;
    enum cn_json_kind kind, wanted = is_weights ? CN_JSON_NUMBER : CN_JSON_ARRAY;

    while ((kind = cn_json_next(&r->json, &token, err)) == wanted) {
        if (is_weights) {
            CN_GROW(p->weights, p->weight_count, p->weight_capacity);
            if (!cn_json_as_f64(token.text, &p->weights[p->weight_count++]))
                return cn_json_fail(&token, "a number", err);
        } else {
            CN_GROW(p->contexts, p->context_count, p->context_capacity);
            if (!read_stack(r, &p->contexts[p->context_count++], err))
                return false;
        }
    }
    return kind == CN_JSON_ARRAY_END ||
           (kind != CN_JSON_FAIL &&
            cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected %s", token.off,
                    is_weights ? "a weight" : "a stack"));
}

static bool take_profile(void *arg, const struct cn_json_member *member,
                         struct cn_error *err)
{
    struct speedscope_reading *r = arg;
    struct speedscope_profile *p = &r->profile;
    bool is_events = cn_json_key_is(member, "events");
    bool is_weights = cn_json_key_is(member, "weights");

    if (is_events || is_weights || cn_json_key_is(member, "samples"))
        return expect(member, CN_JSON_ARRAY, "an array", err) &&
               (is_events ? cn_json_read_objects(&r->json, read_event, r, err)
                          : read_list(r, is_weights, err));
    if (member->kind == CN_JSON_STRING && cn_json_key_is(member, "name")) {
        copy_text(p->name, sizeof(p->name), member->token.text);
    } else if (member->kind == CN_JSON_STRING && cn_json_key_is(member, "unit")) {
        copy_text(p->unit, sizeof(p->unit), member->token.text);
    } else if (cn_json_key_is(member, "type")) {
        p->is_evented = cn_json_is(&member->token, "evented");
    }
    return cn_json_skip(&r->json, member->kind, err);
}

/* "PROCESS 12 THREAD 3" is an identity, anything else a name. */
static void identify(const struct speedscope_reading *r, char *name,
                     struct cn_import_identity *identity)
{
    const struct cn_import_identity named = {
        .kinds = {"THREAD"}, .numbers = {r->profile_count}, .name = name};
    char *rest = NULL, *word;
    size_t count = 0;
    char copy[NAME_MAX_LEN];

    *identity = named;
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
        *identity = named;
        return;
    }
    for (size_t i = 0; i < count; i++)
        name[strcspn(identity->kinds[i], " ") + (size_t)(identity->kinds[i] - name)] =
            '\0';
    identity->name = "";
}

/* The time between two events counts for the open frames. */
static bool add_events(struct speedscope_reading *r, uint32_t thread, uint32_t metric,
                       double scale, struct cn_error *err)
{
    const struct speedscope_profile *p = &r->profile;
    uint32_t *stack = cn_alloc(CN_IMPORT_DEPTH_MAX + 1, sizeof(*stack));
    size_t depth = 0;
    bool ok = true;

    for (size_t i = 0; i < p->event_count && ok; i++) {
        const struct speedscope_event *event = &p->events[i];
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

static bool end_samples(struct speedscope_reading *r, struct cn_error *err)
{
    struct speedscope_profile *p = &r->profile;
    double scale = cn_duration_unit_ns(p->unit) / 1e9;
    struct cn_import_identity identity;
    uint32_t metric, thread;

    if (p->weight_count > 0 && p->weight_count != p->context_count)
        return cn_fail(err, CN_ERR_FORMAT, "%zu samples with %zu weights",
                       p->context_count, p->weight_count);
    identify(r, p->name, &identity);
    if (!cn_import_metric(r->import,
                          scale > 0                       ? "time (sec)"
                          : strcmp(p->unit, "bytes") == 0 ? "bytes"
                          : p->is_evented                 ? "value"
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

/* Cut the tid off "name (1234)". */
static uint64_t take_tid(char *name, uint64_t otherwise)
{
    char *open = strrchr(name, '('), *end;

    if (!open || !isdigit((unsigned char)open[1]))
        return otherwise;
    uint64_t tid = strtoull(open + 1, &end, 10);
    if (strcmp(end, ")") != 0)
        return otherwise;
    *open = '\0';
    if (open > name && open[-1] == ' ')
        open[-1] = '\0';
    return tid;
}

static bool end_calls(struct speedscope_reading *r, struct cn_error *err)
{
    struct speedscope_profile *p = &r->profile;
    double scale = cn_duration_unit_ns(p->unit);
    uint64_t tid = take_tid(p->name, r->profile_count + 1u);
    uint32_t track;

    if (!p->is_evented)
        return cn_fail(err, CN_ERR_USAGE, "profile '%s' has samples, not calls", p->name);
    if (scale == 0)
        return cn_fail(err, CN_ERR_USAGE, "profile '%s' has the unit '%s', not times",
                       p->name, p->unit);
    if (!cn_call_import_track(r->calls, tid, tid, (struct cn_bytes){0}, &track, err))
        return false;
    cn_call_import_track_name(
        r->calls, track, (struct cn_bytes){(const uint8_t *)p->name, strlen(p->name)});
    for (size_t i = 0; i < p->event_count; i++) {
        double at = p->events[i].at * scale;
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

static bool end_profile(struct speedscope_reading *r, struct cn_error *err)
{
    if (!(r->import ? end_samples(r, err) : end_calls(r, err)))
        return cn_fail_in(err, "profile %" PRIu32, r->profile_count);
    r->profile_count++;
    return true;
}

/* What is before the damage of a profile: events, and samples whose weights are known. */
static void end_damaged_profile(struct speedscope_reading *r)
{
    struct speedscope_profile *p = &r->profile;
    struct cn_error ignored;

    if (p->context_count > p->weight_count)
        p->context_count = p->weight_count;
    else
        p->weight_count = p->context_count;
    if (p->event_count > 0 || p->context_count > 0)
        (void)end_profile(r, &ignored);
}

static bool read_profile(void *arg, uint64_t off, struct cn_error *err)
{
    struct speedscope_reading *r = arg;
    struct speedscope_profile *p = &r->profile;

    (void)off;
    p->event_count = p->context_count = p->weight_count = 0;
    p->is_evented = false;
    p->name[0] = p->unit[0] = '\0';
    if (cn_json_read_object(&r->json, take_profile, r, err))
        return end_profile(r, err);
    (void)cn_fail_in(err, "profile %" PRIu32, r->profile_count);
    if (err->kind == CN_ERR_FORMAT)
        end_damaged_profile(r);
    return false;
}

/* The second pass over the file. */
static bool take_profiles(void *arg, const struct cn_json_member *member,
                          struct cn_error *err)
{
    struct speedscope_reading *r = arg;

    if (!cn_json_key_is(member, "profiles"))
        return cn_json_skip(&r->json, member->kind, err);
    return expect(member, CN_JSON_ARRAY, "an array", err) &&
           cn_json_read_objects(&r->json, read_profile, r, err);
}

static bool read_pass(struct speedscope_reading *r, struct cn_bytes bytes,
                      cn_json_member_fn take, struct cn_error *err)
{
    struct cn_json_token token;

    r->json = cn_json_read(bytes);
    bool ok = cn_json_expect(&r->json, CN_JSON_OBJECT, "an object", err) &&
              cn_json_read_object(&r->json, take, r, err) &&
              cn_json_next(&r->json, &token, err) == CN_JSON_END;
    cn_json_reader_done(&r->json);
    return ok;
}

/* The frames before damage may be all that the profiles before it need. */
static bool read_passes(struct speedscope_reading *r, struct cn_bytes bytes,
                        struct cn_error *err)
{
    struct cn_error in_profiles;

    if (read_pass(r, bytes, take_frames, err))
        return read_pass(r, bytes, take_profiles, err);
    if (err->kind == CN_ERR_FORMAT && r->frame_count > 0)
        (void)read_pass(r, bytes, take_profiles, &in_profiles);
    return false;
}

/* `damage` receives what the file was read up to. */
static bool read_file(struct cn_import *import, struct cn_call_import *calls,
                      struct cn_bytes bytes, struct cn_error *damage,
                      struct cn_error *err)
{
    struct speedscope_reading *r = cn_alloc(1, sizeof(*r));

    r->import = import;
    r->calls = calls;
    *damage = (struct cn_error){0};
    bool ok = read_passes(r, bytes, err);
    if (!ok && err->kind == CN_ERR_FORMAT && r->profile_count > 0) {
        *damage = *err;
        ok = true;
    }
    free(r->frames);
    free(r->profile.events);
    free(r->profile.contexts);
    free(r->profile.weights);
    cn_text_done(&r->name);
    free(r);
    return ok;
}

bool cn_speedscope_read(struct cn_import *import, struct cn_bytes bytes,
                        struct cn_error *err)
{
    struct cn_error damage;

    if (!read_file(import, NULL, bytes, &damage, err))
        return false;
    if (damage.kind != CN_ERR_NONE)
        cn_import_warn(import, true, "%s; read up to there", damage.text);
    return true;
}

static bool read_calls(struct cn_bytes bytes, bool is_mapped, struct cn_recording **out,
                       struct cn_error *err)
{
    struct cn_call_import *calls = cn_call_import_new("speedscope");

    struct cn_error damage;

    (void)is_mapped;
    if (!read_file(NULL, calls, bytes, &damage, err)) {
        cn_call_import_free(calls);
        return false;
    }
    if (!cn_call_import_finish(calls, 0, out, err))
        return false;
    if (damage.kind != CN_ERR_NONE)
        cn_recording_warn(*out, true, "%s; read up to there", damage.text);
    return true;
}

bool cn_speedscope_read_calls(struct cn_bytes bytes, struct cn_recording **out,
                              struct cn_error *err)
{
    return read_calls(bytes, false, out, err);
}

bool cn_speedscope_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "speedscope profile", cn_speedscope_read, err);
}

static bool open_calls(struct cn_recording **out, const char *path,
                       const struct cn_recording_options *options, struct cn_error *err)
{
    (void)options;
    return cn_call_import_open(out, path, read_calls, err);
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    static const char schema[] = "speedscope.app/file-format-schema.json";

    (void)is_whole;
    return memmem(beginning.ptr, beginning.len, schema, sizeof(schema) - 1) != NULL;
}

/* True if the file has a profile with this member. */
static bool has_member(struct cn_bytes bytes, const char *key, const char *value)
{
    char text[2][40];

    (void)snprintf(text[0], sizeof(text[0]), "\"%s\":\"%s\"", key, value);
    (void)snprintf(text[1], sizeof(text[1]), "\"%s\": \"%s\"", key, value);
    return memmem(bytes.ptr, bytes.len, text[0], strlen(text[0])) ||
           memmem(bytes.ptr, bytes.len, text[1], strlen(text[1]));
}

/* True if the file has only evented profiles, of times. */
static bool has_only_calls(const char *path)
{
    struct cn_unpacked file = {0};
    struct cn_error ignored;

    if (!cn_unpacked_open(&file, path, &ignored))
        return false;
    bool found = has_member(file.bytes, "type", "evented") &&
                 !has_member(file.bytes, "type", "sampled") &&
                 !has_member(file.bytes, "unit", "none") &&
                 !has_member(file.bytes, "unit", "bytes");
    cn_unpacked_close(&file);
    return found;
}

bool cn_speedscope_probe(const char *path)
{
    return cn_import_probe(path, looks_right) && !has_only_calls(path);
}

static bool probe_calls(const char *path)
{
    return cn_import_probe(path, looks_right) && has_only_calls(path);
}

const struct cn_format cn_format_speedscope_calls = {
    .name = "speedscope-calls",
    .summary = "speedscope JSON with only evented profiles",
    .holds = "calls",
    .is_file = true,
    .probe = probe_calls,
    .open_recording = open_calls,
};
