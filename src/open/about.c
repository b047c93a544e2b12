#include "open/about.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/json.h"
#include "base/bytes/json_reader.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "formats/hpctoolkit/v4/read/open.h"
#include "model/contexts/database.h"

static const char about_name[] = "about.json";

static void add_warnings(struct cn_json *json, const char *key,
                         const struct cn_warning *list, bool is_damage)
{
    cn_json_add_array(json, key);
    for (; list; list = list->next)
        if (list->is_damage == is_damage)
            cn_json_str(json, list->text);
    cn_json_end(json);
}

static bool add_threads(struct cn_json *json, struct cn_database *db,
                        struct cn_error *err)
{
    struct cn_profile profile;

    cn_json_add_array(json, "threadNames");
    for (uint32_t i = 0; i < db->profile_count; i++) {
        if (!cn_database_profile(db, i, &profile, err))
            return false;
        cn_json_str(json, profile.name ? profile.name : "");
    }
    cn_json_end(json);
    return true;
}

/* Build ids, and programs without a file: with one, more would be known. */
static bool add_modules(struct cn_json *json, struct cn_database *db, bool is_missing,
                        struct cn_error *err)
{
    struct cn_module module;

    cn_json_add_array(json, is_missing ? "missing" : "buildIds");
    for (uint32_t i = 0; i < db->module_count; i++) {
        if (!cn_database_module(db, i, &module, err))
            return false;
        if (!is_missing)
            cn_json_str(json, module.build_id ? module.build_id : "");
        else if (module.path[0] == '/' && access(module.path, F_OK) != 0)
            cn_json_str(json, module.path);
    }
    cn_json_end(json);
    return true;
}

static bool write_about(const struct cn_analysis *analysis, struct cn_database *db,
                        const char *folder, struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};
    bool ok;

    cn_json_object(&json);
    cn_json_add_u64(&json, "lostRecords", analysis->lost_count);
    cn_json_add_u64(&json, "samples", db->sample_count);
    cn_json_add_u64(&json, "traces", db->trace_count);
    cn_json_add_u64(&json, "profiles", analysis->profile_count);
    cn_json_add_u64(&json, "unreadableProfiles", analysis->unreadable_count);
    cn_json_add_str(&json, "notes", analysis->notes ? analysis->notes : "");
    add_warnings(&json, "warnings", analysis->warnings, false);
    add_warnings(&json, "damages", analysis->warnings, true);
    ok = add_threads(&json, db, err) && add_modules(&json, db, false, err) &&
         add_modules(&json, db, true, err);
    cn_json_end(&json);
    ok = ok && cn_out_replace(folder, about_name, text.chars, text.len, err);
    cn_text_done(&text);
    return ok;
}

static bool write_points(const struct cn_points *points, const char *folder,
                         struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    cn_json_object(&json);
    cn_json_add_array(&json, "points");
    for (size_t i = 0; i < points->count; i++) {
        cn_json_u64(&json, points->list[i].module);
        cn_json_u64(&json, points->list[i].context);
        cn_json_u64(&json, points->list[i].offset);
    }
    cn_json_end(&json);
    cn_json_add_array(&json, "values");
    for (size_t i = 0; i < points->value_count; i++) {
        cn_json_u64(&json, points->values[i].point);
        cn_json_u64(&json, points->values[i].profile);
        cn_json_u64(&json, points->values[i].metric);
        cn_json_f64(&json, points->values[i].value);
    }
    cn_json_end(&json);
    cn_json_end(&json);
    bool ok = cn_out_replace(folder, CN_ABOUT_POINTS, text.chars, text.len, err);
    cn_text_done(&text);
    return ok;
}

bool cn_about_write(const struct cn_analysis *analysis, struct cn_database *db,
                    const char *folder, struct cn_error *err)
{
    return write_about(analysis, db, folder, err) &&
           (!db->points || write_points(db->points, folder, err));
}

/* A file that is being read. */
struct about_reading {
    struct cn_json_reader json;
    struct cn_database *db;
    struct cn_about *out;
    struct cn_module *modules;
    uint64_t numbers[4];
};

/* Each takes item `i` of a list; false if it does not belong to the database. */
typedef bool (*take_fn)(struct about_reading *r, size_t i, const char *text);

static bool take_warning(struct about_reading *r, size_t i, const char *text)
{
    (void)i;
    cn_database_warn(r->db, false, "%s", text);
    return true;
}

static bool take_damage(struct about_reading *r, size_t i, const char *text)
{
    (void)i;
    cn_database_warn(r->db, true, "%s", text);
    return true;
}

static bool take_name(struct about_reading *r, size_t i, const char *text)
{
    if (i >= r->db->profile_count)
        return false;
    r->out->names[i] = text;
    return true;
}

static bool take_build_id(struct about_reading *r, size_t i, const char *text)
{
    struct cn_error ignored;

    if (!cn_database_module(r->db, (uint32_t)i, &r->modules[i], &ignored))
        return false;
    if (text[0])
        r->modules[i].build_id = text;
    return true;
}

static bool take_missing(struct about_reading *r, size_t i, const char *text)
{
    (void)i;
    r->out->is_outdated |= access(text, F_OK) == 0;
    return true;
}

static bool take_point(struct about_reading *r, size_t i, const char *text)
{
    const uint64_t *point = r->numbers;

    r->numbers[i % 3] = strtoull(text, NULL, 10);
    if (i % 3 < 2)
        return true;
    if (point[0] >= r->db->module_count || point[1] >= r->db->context_limit)
        return false;
    (void)cn_points_at(r->out->points, (struct cn_point){.module = (uint32_t)point[0],
                                                         .context = (uint32_t)point[1],
                                                         .offset = point[2]});
    return true;
}

static bool take_value(struct about_reading *r, size_t i, const char *text)
{
    const uint64_t *value = r->numbers;

    r->numbers[i % 4] = strtoull(text, NULL, 10);
    if (i % 4 < 3)
        return true;
    if (value[0] >= r->out->points->count || value[1] >= r->db->profile_count ||
        value[2] >= r->db->metrics.count)
        return false;
    cn_points_add(r->out->points, (uint32_t)value[0], (uint32_t)value[1],
                  (uint32_t)value[2], strtod(text, NULL));
    return true;
}

static char *copy(struct about_reading *r, struct cn_bytes text)
{
    return cn_arena_copy(&r->out->analysis.arena, (const char *)text.ptr, text.len);
}

static bool read_list(struct about_reading *r, take_fn take, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    for (size_t i = 0; (kind = cn_json_next(&r->json, &token, err)) == CN_JSON_STRING ||
                       kind == CN_JSON_NUMBER;
         i++)
        if (!take(r, i, copy(r, token.text)))
            return cn_json_fail(&token, "of this database", err);
    return kind == CN_JSON_ARRAY_END ||
           (kind != CN_JSON_FAIL && cn_json_fail(&token, "a text or a number", err));
}

static bool take_member(void *arg, const struct cn_json_member *member,
                        struct cn_error *err)
{
    struct about_reading *r = arg;
    struct cn_analysis *out = &r->out->analysis;
    const struct {
        const char *key;
        uint64_t *number;
        take_fn take;
    } members[] = {
        {"lostRecords", &out->lost_count, NULL},
        {"samples", &r->db->sample_count, NULL},
        {"traces", &r->db->trace_count, NULL},
        {"profiles", &out->profile_count, NULL},
        {"unreadableProfiles", &out->unreadable_count, NULL},
        {"warnings", NULL, take_warning},
        {"damages", NULL, take_damage},
        {"threadNames", NULL, take_name},
        {"buildIds", NULL, take_build_id},
        {"missing", NULL, take_missing},
        {"points", NULL, take_point},
        {"values", NULL, take_value},
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
        if (!cn_json_key_is(member, members[i].key))
            continue;
        if (members[i].take && member->kind == CN_JSON_ARRAY)
            return read_list(r, members[i].take, err);
        return (members[i].number &&
                cn_json_as_u64(member->token.text, members[i].number)) ||
               cn_json_fail(&member->token, members[i].key, err);
    }
    if (cn_json_key_is(member, "notes"))
        out->notes = copy(r, member->token.text);
    return cn_json_skip(&r->json, member->kind, err);
}

static bool read_file(struct about_reading *r, const char *folder, const char *name,
                      struct cn_error *err)
{
    struct cn_file file;

    if (!cn_file_open_at(&file, folder, name, err))
        return false;
    r->json = cn_json_read(file.bytes);
    bool ok = (cn_json_expect(&r->json, CN_JSON_OBJECT, "an object", err) &&
               cn_json_read_object(&r->json, take_member, r, err)) ||
              cn_fail_in(err, "%s/%s", folder, name);
    cn_json_reader_done(&r->json);
    cn_file_close(&file);
    return ok;
}

/* Only samples have points. */
static bool read_files(struct about_reading *r, const char *folder, struct cn_error *err)
{
    struct cn_arena *arena = &r->out->analysis.arena;
    struct cn_error later;

    r->out->names = cn_arena_alloc(arena, r->db->profile_count, sizeof(char *));
    r->out->points = cn_alloc(1, sizeof(*r->out->points));
    r->modules = cn_arena_alloc(arena, r->db->module_count, sizeof(*r->modules));
    if (!read_file(r, folder, about_name, err))
        return false;
    if (read_file(r, folder, CN_ABOUT_POINTS, &later) || later.kind == CN_ERR_NOT_FOUND)
        return true;
    *err = later;
    return false;
}

bool cn_about_open(struct cn_database **out, struct cn_about *about, const char *folder,
                   struct cn_error *err)
{
    struct about_reading r = {.out = about};
    char path[PATH_MAX];

    *about = (struct cn_about){0};
    (void)snprintf(path, sizeof(path), "%s/" CN_ABOUT_DATABASE, folder);
    if (!cn_hpc_v4_open(&r.db, path, err))
        return false;
    if (!read_files(&r, folder, err)) {
        cn_database_close(r.db);
        cn_about_close(about);
        return false;
    }
    r.db->thread_names = about->names;
    if (r.db->module_count > 0 && r.modules[r.db->module_count - 1].path)
        r.db->modules = r.modules;
    if (about->points->count > 0)
        r.db->points = about->points;
    *out = r.db;
    return true;
}

void cn_about_close(struct cn_about *about)
{
    if (about->points)
        cn_points_done(about->points);
    free(about->points);
    cn_analysis_done(&about->analysis);
    *about = (struct cn_about){0};
}
