#include "server/compat/common/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "server/compat/common/graph.h"
#include "server/served/store.h"
#include "store/groups/group.h"
#include "store/search/names.h"
#include "store/search/query.h"

bool cn_compat_values(struct cn_served_store *store, const struct cn_query *query,
                      const char *by, size_t max, struct cn_names *out,
                      struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_groups groups;

    if (!cn_search_group(store->search, query, CN_SEARCH_SPANS, by, max, &groups, err))
        return false;
    for (size_t i = 0; i < groups.count; i++) {
        cn_text_clear(&text);
        cn_words_print(&groups.values, groups.list[i].value, &text);
        (void)cn_names_add(out, cn_text_str(&text));
    }
    cn_text_done(&text);
    cn_groups_done(&groups);
    return true;
}

bool cn_compat_values_of(struct cn_served_store *store, const char *query, const char *by,
                         size_t max, struct cn_names *out, struct cn_error *err)
{
    struct cn_query *parsed = NULL;
    bool ok = cn_query_parse(&parsed, query, 0, err) &&
              cn_compat_values(store, parsed, by, max, out, err);

    cn_query_free(parsed);
    return ok;
}

enum cn_compat_scope cn_compat_scope_of(const char *name, const char **inner)
{
    static const struct {
        const char *prefix;
        enum cn_compat_scope scope;
    } prefixes[] = {
        {"resource.", CN_SCOPE_RESOURCE}, {"scope.", CN_SCOPE_INSTRUMENTATION},
        {"event.", CN_SCOPE_EVENT},       {"link.", CN_SCOPE_LINK},
        {"links.", CN_SCOPE_NONE},        {"status.", CN_SCOPE_NONE},
    };
    static const char *const others[] = {"event",        "annotation", "trace_state",
                                         "link.trace",   "link.span",  "scope.name",
                                         "scope.version"};

    *inner = name;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i]) == 0)
            return CN_SCOPE_NONE;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t len = strlen(prefixes[i].prefix);

        if (strncmp(name, prefixes[i].prefix, len) != 0 || name[len] == '\0')
            continue;
        *inner = name + len;
        return prefixes[i].scope;
    }
    return CN_SCOPE_SPAN;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void cn_compat_sort_names(struct cn_names *names)
{
    cn_names_finish(names);
    if (names->count > 1)
        qsort(names->list, names->count, sizeof(*names->list), compare);
}

/* The index has an attribute of a resource under its name as well. */
static bool is_of_resource(struct cn_names *all, const char *name)
{
    struct cn_text text = {0};
    size_t count = all->count;

    cn_text_printf(&text, "resource.%s", name);
    bool is_known = cn_names_add(all, cn_text_str(&text)) < count;
    cn_text_done(&text);
    return is_known;
}

void cn_compat_attribute_names(struct cn_served_store *store, enum cn_compat_scope scope,
                               struct cn_names *out)
{
    struct cn_names all = {0};
    const char *inner;

    /* Stores of earlier versions have it with the span. */
    if (scope == CN_SCOPE_RESOURCE)
        (void)cn_names_add(out, "service.name");
    (void)cn_names_add(&all, "resource.service.name");
    cn_search_names(store->search, CN_COMPAT_NAMES_MAX, &all);
    for (size_t i = 0, count = all.count; i < count; i++) {
        if (cn_compat_scope_of(all.list[i], &inner) != scope ||
            (scope == CN_SCOPE_SPAN && is_of_resource(&all, all.list[i])))
            continue;
        (void)cn_names_add(out, inner);
    }
    cn_names_done(&all);
    cn_compat_sort_names(out);
}
