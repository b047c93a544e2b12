/* The header of every page. */
#include "analyze/views/header.h"

#include "analyze/lens/database.h"
#include "analyze/lens/lens.h"
#include "base/list.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/served/served.h"

static void add_fact(void *arg, const char *key, const char *text, uint64_t number)
{
    static const struct {
        const char *key, *name;
    } names[] = {
        {"program", "program"},        {"command", "command"},
        {"writer", "writer"},          {"host", "host"},
        {"kernel", "kernel"},          {"machine", "machine"},
        {"processor", "processor"},    {"processor_count", "processors"},
        {"memory_bytes", "memory"},    {"stacks", "stacks"},
        {"refusal", "stacksRefusal"},  {"stack_count", "stackCount"},
        {"whole_count", "wholeCount"}, {"unnamed_count", "unnamedCount"},
        {"filters", "filtered"},
    };

    for (size_t i = 0; i < CN_COUNT_OF(names); i++) {
        if (strcmp(names[i].key, key) != 0)
            continue;
        if (text)
            cn_json_add_str(arg, names[i].name, text);
        else
            cn_json_add_u64(arg, names[i].name, number);
    }
}

/* "filters": the rules of the lens, and patterns of one's own code. */
static void add_filters(struct cn_json *json, const struct cn_header *header,
                        const struct cn_database *db)
{
    const struct cn_lens *lens = header->lens;

    cn_json_add_array(json, "filters");
    for (size_t i = 0; lens && i < lens->count; i++) {
        cn_json_object(json);
        cn_json_add_str(json, "action", cn_lens_action_name(lens->rules[i].action));
        cn_json_add_str(json, "subject", lens->rules[i].text);
        cn_json_add_u64(json, "functions", cn_lens_match_count(db, i));
        cn_json_end(json);
    }
    for (size_t i = 0; lens && i < lens->mine.count; i++) {
        cn_json_object(json);
        cn_json_add_str(json, "action", "mine");
        cn_json_add_str(json, "subject", lens->mine_texts[i]);
        cn_json_end(json);
    }
    cn_json_end(json);
}

bool cn_api_header(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_header header;

    if (!cn_served_ready(served, err) ||
        !cn_header_build(&header, served->db, served->whole ? &served->lens : NULL,
                         served->opened.about.analysis.lost_count, err))
        return false;
    cn_json_add_str(json, "name", served->name);
    cn_json_add_str(json, "title", header.title);
    cn_origin_each(&header.origin, add_fact, json);
    if (header.start_ns > 0)
        cn_json_add_id(json, "start", header.start_ns);
    if (header.duration_ns > 0)
        cn_json_add_u64(json, "duration", header.duration_ns);
    cn_json_add_u64(json, "threads", header.thread_count);
    cn_json_add_u64(json, "samples", header.sample_count);
    cn_json_add_str(json, "metric", header.metric);
    if (header.base)
        cn_json_add_str(json, "base", header.base);
    cn_json_add_f64(json, "whole", header.whole);
    cn_json_add_f64(json, "shown", header.shown);
    cn_json_add_u64(json, "lostCount", header.lost_count);
    cn_json_add_bool(json, "isDamaged", header.is_damaged);
    add_filters(json, &header, served->db);
    return true;
}
