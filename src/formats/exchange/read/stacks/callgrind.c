/* Reader of callgrind profiles: self costs of functions, and costs of the calls between them.
 *
 * There are no stacks in the file. A function that several others call is divided among them in the
 * proportion of the costs of their calls, as KCachegrind and gprof do; costs of functions are exact,
 * whatever the division. What is too small to divide, and what only recursion reaches, is a function
 * without a caller. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/read/lines.h"
#include "formats/exchange/read/readers.h"
#include "formats/exchange/read/stacks/import.h"

enum {
    EVENT_MAX = 16,
    CONTEXT_MAX = 1 << 18, /* contexts by division */
    STEP_MAX = 1 << 26,    /* calls that are looked at, once for each context */
    SMALLEST_SHARE = 1000000,
};

/* The names of one kind, which are written once: "(3) main". */
struct numbered {
    struct cn_names names;
    struct cn_map by_number;
    uint32_t at; /* the last one that was named */
};

struct grind_function {
    uint32_t name, file, object; /* of the numbered names */
    uint32_t line;
    uint32_t frame;
    uint32_t first_call; /* of those it makes; CN_NONE: none */
    bool is_open;        /* on the path that is divided */
    double self[EVENT_MAX];
    double total[EVENT_MAX];  /* self, and what it calls */
    double called[EVENT_MAX]; /* for all callers */
    double divided[EVENT_MAX];
};

struct grind_call {
    uint32_t from, to;
    uint32_t next; /* of the same caller */
    double costs[EVENT_MAX];
};

struct callgrind {
    struct cn_import *import;
    struct numbered objects, files, names;
    struct grind_function *functions;
    struct grind_call *calls;
    size_t function_count, function_capacity, call_count, call_capacity;
    struct cn_map call_of; /* by caller and callee */
    struct cn_names keys;  /* of functions */
    struct cn_text key;
    char *events[EVENT_MAX], *units[EVENT_MAX];
    uint32_t metrics[EVENT_MAX];
    double scales[EVENT_MAX];
    size_t event_count, position_count;
    uint32_t function;                    /* the current one; CN_NONE: none */
    uint32_t to_object, to_file, to_name; /* of the next call; CN_NONE: as the caller */
    bool is_call;                         /* the next line of costs is that of a call */
    bool is_ours, is_known;               /* written by cairn; by it or valgrind */
    double sums[EVENT_MAX];               /* of the self costs */
    double due[EVENT_MAX];       /* what they add up to, by the `totals` of parts */
    double summaries[EVENT_MAX]; /* and by the `summary` of the part that has not ended */
    uint64_t cost_count;         /* lines of self costs, each of them rounded */
    uint64_t line;               /* the last position */
    uint64_t number, first_bad, bad_count; /* lines */
};

static void numbered_done(struct numbered *names)
{
    cn_names_done(&names->names);
    cn_map_done(&names->by_number);
}

/* Trim blanks at both ends. */
static struct cn_bytes trim(struct cn_bytes text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        (void)cn_bytes_from(text, 1, &text);
    while (text.len > 0 &&
           (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static bool read_u64(struct cn_bytes text, uint64_t *out)
{
    char copy[24], *end;

    if (text.len == 0 || text.len >= sizeof(copy) || text.ptr[0] < '0' ||
        text.ptr[0] > '9')
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *out = strtoull(copy, &end, copy[1] == 'x' ? 16 : 10);
    return *end == '\0';
}

/* "name", "(3) name" or "(3)". */
static bool read_name(struct callgrind *g, struct numbered *names, struct cn_bytes text,
                      uint32_t *out)
{
    struct cn_bytes digits, name = text;
    const uint8_t *close = text.len > 0 ? memchr(text.ptr, ')', text.len) : NULL;
    uint64_t number;
    uint32_t *known;

    if (text.len > 2 && text.ptr[0] == '(' && close &&
        cn_bytes_slice(text, 1, (size_t)(close - text.ptr) - 1, &digits) &&
        read_u64(digits, &number)) {
        (void)cn_bytes_from(text, digits.len + 2, &name);
        name = trim(name);
        known = cn_map_at(&names->by_number, number, CN_NONE);
        if (name.len > 0)
            *known = cn_names_add(&names->names, cn_import_str(g->import, name));
        *out = *known;
        return *known != CN_NONE;
    }
    *out = cn_names_add(&names->names, cn_import_str(g->import, name));
    return true;
}

static const char *name_at(const struct numbered *names, uint32_t number)
{
    const char *name = number == CN_NONE ? "" : names->names.list[number];

    return strcmp(name, "???") == 0 ? "" : name;
}

static uint32_t function_of(struct callgrind *g, uint32_t object, uint32_t file,
                            uint32_t name)
{
    uint32_t number;

    cn_text_clear(&g->key);
    cn_text_printf(&g->key, "%s\n%s\n%s", name_at(&g->objects, object),
                   name_at(&g->files, file), name_at(&g->names, name));
    number = cn_names_add(&g->keys, cn_text_str(&g->key));
    if (number == g->function_count) {
        CN_PUSH(g->functions, g->function_count, g->function_capacity,
                (struct grind_function){
                    .name = name, .file = file, .object = object, .first_call = CN_NONE});
    }
    return number;
}

static struct grind_call *call_of(struct callgrind *g, uint32_t from, uint32_t to)
{
    uint32_t at =
        *cn_map_at(&g->call_of, (uint64_t)from << 32 | to, (uint32_t)g->call_count);

    if (at == g->call_count) {
        CN_PUSH(g->calls, g->call_count, g->call_capacity,
                (struct grind_call){
                    .from = from, .to = to, .next = g->functions[from].first_call});
        g->functions[from].first_call = at;
    }
    return &g->calls[at];
}

/* "fn=(1) main" and the like; false if it is something else. */
static bool read_spec(struct callgrind *g, struct cn_bytes key, struct cn_bytes value,
                      bool *is_bad)
{
    char name[8] = "";
    uint32_t found = CN_NONE;
    bool is_file;

    if (key.len >= sizeof(name))
        return false;
    memcpy(name, key.ptr, key.len);
    is_file =
        strcmp(name, "fl") == 0 || strcmp(name, "fi") == 0 || strcmp(name, "fe") == 0;
    if (strcmp(name, "ob") == 0) {
        *is_bad = !read_name(g, &g->objects, value, &g->objects.at);
    } else if (is_file) {
        *is_bad = !read_name(g, &g->files, value, &found);
        /* Code that is inlined from another file stays in its function. */
        if (name[1] == 'l')
            g->files.at = found;
    } else if (strcmp(name, "fn") == 0) {
        *is_bad = !read_name(g, &g->names, value, &g->names.at);
        g->function =
            *is_bad ? CN_NONE : function_of(g, g->objects.at, g->files.at, g->names.at);
    } else if (strcmp(name, "jfi") == 0) { /* of the target of a jump */
        *is_bad = !read_name(g, &g->files, value, &found);
    } else if (strcmp(name, "jfn") == 0) {
        *is_bad = !read_name(g, &g->names, value, &found);
    } else if (strcmp(name, "cob") == 0) {
        *is_bad = !read_name(g, &g->objects, value, &g->to_object);
    } else if (strcmp(name, "cfi") == 0 || strcmp(name, "cfl") == 0) {
        *is_bad = !read_name(g, &g->files, value, &g->to_file);
    } else if (strcmp(name, "cfn") == 0) {
        *is_bad = !read_name(g, &g->names, value, &g->to_name);
    } else if (strcmp(name, "calls") == 0) {
        g->is_call = true;
    } else {
        return strcmp(name, "jump") == 0 || strcmp(name, "jcnd") == 0;
    }
    return true;
}

static bool read_position(struct callgrind *g, struct cn_bytes word)
{
    uint64_t number;

    if (word.len == 1 && word.ptr[0] == '*')
        return true;
    if (word.len > 1 && (word.ptr[0] == '+' || word.ptr[0] == '-')) {
        bool is_down = word.ptr[0] == '-';

        if (!cn_bytes_from(word, 1, &word) || !read_u64(word, &number))
            return false;
        g->line = is_down ? g->line - number : g->line + number;
        return true;
    }
    return read_u64(word, &g->line);
}

/* A line of positions and costs, of the current function or of a call. */
static bool read_costs(struct callgrind *g, struct cn_bytes line)
{
    double costs[EVENT_MAX] = {0}, *to;
    struct grind_function *function;

    for (size_t i = 0; i < g->position_count; i++) {
        uint64_t before = g->line;

        if (!read_position(g, cn_word_take(&line)))
            return false;
        /* The last position is the line. */
        if (i + 1 < g->position_count)
            g->line = before;
    }
    for (size_t i = 0; i < g->event_count; i++) {
        struct cn_bytes word = cn_word_take(&line);
        uint64_t cost;

        if (word.len == 0)
            break;
        if (!read_u64(word, &cost))
            return false;
        costs[i] = (double)cost;
    }
    if (g->function == CN_NONE || (g->is_call && g->to_name == CN_NONE))
        return false;
    if (g->is_call) {
        uint32_t callee =
            function_of(g, g->to_object == CN_NONE ? g->objects.at : g->to_object,
                        g->to_file == CN_NONE ? g->files.at : g->to_file, g->to_name);

        to = call_of(g, g->function, callee)->costs;
    } else {
        function = &g->functions[g->function];
        to = function->self;
        g->cost_count++;
        for (size_t i = 0; i < g->event_count; i++)
            g->sums[i] += costs[i];
        if (function->line == 0 && g->line <= INT32_MAX)
            function->line = (uint32_t)g->line;
    }
    for (size_t i = 0; i < g->event_count; i++)
        to[i] += costs[i];
    if (g->is_call)
        g->to_object = g->to_file = g->to_name = CN_NONE;
    g->is_call = false;
    return true;
}

static bool is_text(struct cn_bytes bytes, const char *text)
{
    return bytes.len == strlen(text) && memcmp(bytes.ptr, text, bytes.len) == 0;
}

/* "event: NAME : UNIT" */
static void read_unit(struct callgrind *g, struct cn_bytes value)
{
    struct cn_bytes name = cn_word_take(&value), unit;
    size_t i = 0;

    (void)cn_word_take(&value);
    unit = trim(value);
    while (i < EVENT_MAX && g->units[i])
        i++;
    if (i == EVENT_MAX)
        return;
    /* The name, then its unit, until events are known. */
    g->units[i] = cn_alloc(name.len + unit.len + 2, 1);
    memcpy(g->units[i], name.ptr, name.len);
    memcpy(g->units[i] + name.len + 1, unit.ptr, unit.len);
}

static void read_sums(const struct callgrind *g, struct cn_bytes value, double *sums)
{
    for (size_t i = 0; i < g->event_count; i++) {
        uint64_t cost;

        if (read_u64(cn_word_take(&value), &cost))
            sums[i] += (double)cost;
    }
}

static void read_header(struct callgrind *g, struct cn_bytes key, struct cn_bytes value)
{
    struct cn_bytes word;

    if (is_text(key, "positions")) {
        g->position_count = 0;
        while (cn_word_take(&value).len > 0)
            g->position_count++;
    } else if (is_text(key, "events") && g->event_count == 0) {
        while (g->event_count < EVENT_MAX && (word = cn_word_take(&value)).len > 0)
            g->events[g->event_count++] = cn_word_copy(word);
    } else if (is_text(key, "event")) {
        read_unit(g, value);
    } else if (is_text(key, "creator")) {
        g->is_ours = value.len > 5 && memcmp(value.ptr, "cairn", 5) == 0;
        g->is_known =
            g->is_ours || (value.len > 9 && memcmp(value.ptr, "callgrind", 9) == 0);
    } else if (is_text(key, "summary")) {
        memset(g->summaries, 0, sizeof(g->summaries));
        read_sums(g, value, g->summaries);
    } else if (is_text(key, "totals")) {
        memset(g->summaries, 0, sizeof(g->summaries));
        read_sums(g, value, g->due);
    }
}

static void read_line(struct callgrind *g, struct cn_bytes line)
{
    struct cn_bytes text = trim(line), key, value;
    bool is_bad = false;
    uint8_t first;
    size_t len = 0;

    if (text.len == 0 || text.ptr[0] == '#')
        return;
    first = text.ptr[0];
    if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*') {
        is_bad = !read_costs(g, text);
    } else {
        while (len < text.len && text.ptr[len] != '=' && text.ptr[len] != ':')
            len++;
        is_bad = len == text.len || !cn_bytes_slice(text, 0, len, &key) ||
                 !cn_bytes_from(text, len + 1, &value);
        if (!is_bad && text.ptr[len] == ':')
            read_header(g, key, trim(value));
        else if (!is_bad)
            is_bad = !read_spec(g, key, trim(value), &is_bad) || is_bad;
    }
    if (is_bad && g->bad_count++ == 0)
        g->first_bad = g->number;
}

/* Times become seconds. cairn writes blanks in names of metrics as '_'. */
static bool add_metrics(struct callgrind *g, struct cn_error *err)
{
    for (size_t i = 0; i < g->event_count; i++) {
        struct cn_text name = {0};
        const char *unit = "";
        bool ok;

        for (size_t k = 0; k < EVENT_MAX && g->units[k]; k++)
            if (strcmp(g->units[k], g->events[i]) == 0)
                unit = g->units[k] + strlen(g->units[k]) + 1;
        g->scales[i] = cn_duration_unit_ns(unit) / 1e9;
        cn_text_str_add(&name, g->events[i]);
        for (size_t k = 0; k < name.len && g->is_ours; k++)
            if (name.chars[k] == '_')
                name.chars[k] = ' ';
        if (g->scales[i] > 0 && !strstr(g->events[i], "(sec)"))
            cn_text_str_add(&name, " (sec)");
        if (g->scales[i] == 0)
            g->scales[i] = 1;
        ok = cn_import_metric(g->import, cn_text_str(&name), &g->metrics[i], err);
        cn_text_done(&name);
        if (!ok)
            return false;
    }
    return true;
}

/* Sums over calls; those of a function to itself are part of it. */
static void add_totals(struct callgrind *g)
{
    for (size_t i = 0; i < g->function_count; i++) {
        struct grind_function *function = &g->functions[i];

        memcpy(function->total, function->self, sizeof(function->total));
        function->frame = cn_import_frame(
            g->import, &(struct cn_import_frame){
                           .name = name_at(&g->names, function->name),
                           .module = name_at(&g->objects, function->object),
                           .file = name_at(&g->files, function->file),
                           .line = function->line,
                       });
    }
    for (size_t i = 0; i < g->call_count; i++) {
        const struct grind_call *call = &g->calls[i];

        for (size_t e = 0; e < g->event_count && call->from != call->to; e++) {
            g->functions[call->from].total[e] += call->costs[e];
            g->functions[call->to].called[e] += call->costs[e];
        }
    }
    /* In recursion, calls have more than the function. */
    for (size_t i = 0; i < g->function_count; i++)
        for (size_t e = 0; e < g->event_count; e++)
            if (g->functions[i].total[e] < g->functions[i].called[e])
                g->functions[i].total[e] = g->functions[i].called[e];
}

/* A function on the path, and the share of it that belongs there. */
struct grind_share {
    uint32_t function, context;
    uint32_t next_call;
    double shares[EVENT_MAX];
};

struct grind_division {
    struct callgrind *g;
    struct grind_share path[CN_IMPORT_DEPTH_MAX];
    size_t depth;
    size_t context_count, step_count;
    double smallest[EVENT_MAX];
    uint32_t thread;
};

/* Add the share of a function to its context, and make it the innermost of the path. */
static bool open_share(struct grind_division *d, uint32_t function, const double *shares,
                       struct cn_error *err)
{
    struct callgrind *g = d->g;
    struct grind_function *about = &g->functions[function];
    struct grind_share *share = &d->path[d->depth];

    *share = (struct grind_share){
        .function = function,
        .context = cn_import_call(
            g->import, d->depth > 0 ? d->path[d->depth - 1].context : 0, about->frame),
        .next_call = about->first_call,
    };
    memcpy(share->shares, shares, sizeof(share->shares));
    about->is_open = true;
    d->depth++;
    d->context_count++;
    for (size_t e = 0; e < g->event_count; e++) {
        double value = about->self[e] * shares[e];

        about->divided[e] += value;
        if (value > 0 && !cn_import_add(g->import, d->thread, share->context,
                                        g->metrics[e], value * g->scales[e], err))
            return false;
    }
    return true;
}

/* The share of the callee that a call from the innermost share has; false if it is too small. */
static bool find_shares(const struct grind_division *d, const struct grind_call *call,
                        double shares[EVENT_MAX])
{
    const struct callgrind *g = d->g;
    const struct grind_function *callee = &g->functions[call->to];
    bool is_large = false;

    for (size_t e = 0; e < g->event_count; e++) {
        double total = callee->total[e];

        shares[e] =
            total > 0 ? d->path[d->depth - 1].shares[e] * call->costs[e] / total : 0;
        is_large |= shares[e] * total > d->smallest[e];
    }
    return is_large;
}

static bool divide(struct grind_division *d, uint32_t function, const double *shares,
                   struct cn_error *err)
{
    struct callgrind *g = d->g;

    if (!open_share(d, function, shares, err))
        return false;
    while (d->depth > 0) {
        struct grind_share *share = &d->path[d->depth - 1];
        const struct grind_call *call;
        double inner[EVENT_MAX] = {0};

        if (share->next_call == CN_NONE || d->step_count == STEP_MAX) {
            g->functions[share->function].is_open = false;
            d->depth--;
            continue;
        }
        call = &g->calls[share->next_call];
        share->next_call = call->next;
        d->step_count++;
        if (!g->functions[call->to].is_open && d->depth < CN_IMPORT_DEPTH_MAX &&
            d->context_count < CONTEXT_MAX && find_shares(d, call, inner) &&
            !open_share(d, call->to, inner, err))
            return false;
    }
    return true;
}

/* First from functions that nothing, or not everything of them, is called by. */
static bool divide_all(struct callgrind *g, uint32_t thread, struct cn_error *err)
{
    struct grind_division *d = cn_alloc(1, sizeof(*d));
    bool ok = true;

    d->g = g;
    d->thread = thread;
    for (size_t i = 0; i < g->function_count; i++)
        for (size_t e = 0; e < g->event_count; e++)
            d->smallest[e] += g->functions[i].self[e] / SMALLEST_SHARE;
    for (uint32_t i = 0; i < g->function_count && ok; i++) {
        const struct grind_function *about = &g->functions[i];
        double shares[EVENT_MAX] = {0};
        bool is_first = false;

        for (size_t e = 0; e < g->event_count; e++) {
            double rest = about->total[e] - about->called[e];

            shares[e] = about->total[e] > 0 ? rest / about->total[e] : 0;
            is_first |= rest > d->smallest[e];
        }
        ok = !is_first || divide(d, i, shares, err);
    }
    free(d);
    return ok;
}

/* Add what was not divided. */
static bool add_rests(struct callgrind *g, uint32_t thread, struct cn_error *err)
{
    for (size_t i = 0; i < g->function_count; i++) {
        const struct grind_function *about = &g->functions[i];

        for (size_t e = 0; e < g->event_count; e++) {
            double rest = about->self[e] - about->divided[e];

            /* Divisions are rounded. */
            if (rest > about->self[e] * 1e-12 &&
                !cn_import_add(g->import, thread,
                               cn_import_call(g->import, 0, about->frame), g->metrics[e],
                               rest * g->scales[e], err))
                return false;
        }
    }
    return true;
}

/* Warn if self costs are missing: the file is cut at the end of a line. Other writers mean other
 * things by a summary. */
static void check_sums(const struct callgrind *g)
{
    for (size_t i = 0; i < g->event_count && g->is_known; i++) {
        double due = g->due[i] + g->summaries[i];

        if (g->sums[i] + (g->is_ours ? (double)g->cost_count : 0) >= due)
            continue;
        cn_import_warn(g->import, true,
                       "costs of functions are missing: %.0f of %.0f %s are there",
                       g->sums[i], due, g->events[i]);
        return;
    }
}

static bool add_profile(struct callgrind *g, struct cn_error *err)
{
    uint32_t thread;

    if (g->function_count == 0 || g->event_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "line %" PRIu64 ": no costs of functions",
                       g->first_bad > 0 ? g->first_bad : g->number);
    if (!cn_import_thread(g->import,
                          &(struct cn_import_identity){.kinds = {"THREAD"}, .name = ""},
                          &thread, err) ||
        !add_metrics(g, err))
        return false;
    add_totals(g);
    if (g->bad_count > 0)
        cn_import_warn(g->import, true,
                       "lines that are neither names nor costs are skipped: %" PRIu64
                       ", the first is line %" PRIu64,
                       g->bad_count, g->first_bad);
    check_sums(g);
    return divide_all(g, thread, err) && add_rests(g, thread, err);
}

bool cn_callgrind_read(struct cn_import *import, struct cn_bytes bytes,
                       struct cn_error *err)
{
    struct callgrind g = {
        .import = import,
        .objects.at = CN_NONE,
        .files.at = CN_NONE,
        .names.at = CN_NONE,
        .position_count = 1,
        .function = CN_NONE,
        .to_object = CN_NONE,
        .to_file = CN_NONE,
        .to_name = CN_NONE,
    };
    struct cn_bytes rest = bytes;
    bool ok;

    while (rest.len > 0) {
        g.number++;
        read_line(&g, cn_line_take(&rest));
    }
    ok = add_profile(&g, err);
    numbered_done(&g.objects);
    numbered_done(&g.files);
    numbered_done(&g.names);
    cn_names_done(&g.keys);
    cn_map_done(&g.call_of);
    cn_text_done(&g.key);
    free(g.functions);
    free(g.calls);
    for (size_t i = 0; i < EVENT_MAX; i++) {
        free(g.events[i]);
        free(g.units[i]);
    }
    return ok;
}

static bool looks_right(struct cn_bytes beginning, bool is_whole)
{
    (void)is_whole;
    return !memchr(beginning.ptr, '\0', beginning.len) &&
           (memmem(beginning.ptr, beginning.len, "\nevents:", 8) ||
            (beginning.len > 7 && memcmp(beginning.ptr, "events:", 7) == 0)) &&
           memmem(beginning.ptr, beginning.len, "\nfn=", 4);
}

bool cn_callgrind_probe(const char *path)
{
    return cn_import_probe(path, looks_right);
}

bool cn_callgrind_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_import_database(out, path, "callgrind profile", cn_callgrind_read, err);
}
