#include "analyze/samples/pass.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Launches of a kernel in a range. */
struct range_launch {
    uint64_t range;
    uint32_t parent, entry; /* contexts: of the launch, and of the kernel below it */
    uint32_t function;      /* the kernel */
    double count, sampled_count;
};

/* A value of a launch. */
struct measured {
    uint32_t context, metric;
    double value;
};

struct range_sample {
    uint64_t range, address;
    uint32_t module, metric;
    double value;
    bool is_moved;
};

struct cn_range_context {
    struct cn_identity ids[CN_IDENTITY_MAX];
    size_t id_count;
    struct range_launch *launches;
    struct measured *measured;
    struct range_sample *samples;
    size_t launch_count, launch_capacity;
    size_t measured_count, measured_capacity;
    size_t sample_count, sample_capacity;
};

static const char context_kind[] = "GPUCONTEXT";

static size_t find_kind(const struct cn_sampled_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->kind_count; i++)
        if (cn_bytes_equal(profile->kinds[i], name))
            return i;
    return SIZE_MAX;
}

/* The ids that a GPU context shares with the thread that used it: machine and process. */
static size_t prefix_count(const struct cn_sampled_profile *profile)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->identity_count; i++) {
        struct cn_bytes kind = profile->kinds[profile->identity[i].kind];

        if (cn_bytes_equal(kind, "NODE") || cn_bytes_equal(kind, "RANK"))
            count = i + 1;
    }
    return count;
}

bool cn_sampled_ranges_check(const struct cn_sampled_profile *profile,
                             struct cn_error *err)
{
    for (size_t i = 0; i < profile->node_count; i++) {
        if (!cn_node_is_of_range(profile->nodes[i].kind))
            continue;
        if (find_kind(profile, context_kind) == SIZE_MAX)
            return cn_fail(err, CN_ERR_FORMAT, "GPU ranges without identities of kind %s",
                           context_kind);
        if (prefix_count(profile) == CN_IDENTITY_MAX)
            return cn_fail(err, CN_ERR_LIMIT,
                           "identity of %zu ids leaves no room for a GPU context",
                           profile->identity_count);
        return true;
    }
    return true;
}

static bool identify(struct cn_sampled_identities *identities,
                     const struct cn_sampled_profile *profile, uint64_t gpu_context,
                     struct cn_range_context *out, struct cn_error *err)
{
    struct cn_sampled_identity own[CN_IDENTITY_MAX];
    struct cn_sampled_profile as = *profile;
    size_t count = prefix_count(profile);

    for (size_t i = 0; i < count; i++)
        own[i] = profile->identity[i];
    own[count] = (struct cn_sampled_identity){
        .physical = gpu_context,
        .kind = (uint16_t)find_kind(profile, context_kind),
        .numbering = CN_NUMBER_LOCALLY,
    };
    as.identity = own;
    as.identity_count = count + 1;
    return cn_sampled_identities_add(identities, &as, out->ids, &out->id_count, err);
}

static struct cn_range_context *find_context(struct cn_sampled_ranges *ranges,
                                             const struct cn_range_context *wanted)
{
    struct cn_text key = {0};

    for (size_t i = 0; i < wanted->id_count; i++)
        cn_text_printf(&key, "%u %llx %lx %d,", wanted->ids[i].kind,
                       (unsigned long long)wanted->ids[i].physical,
                       (unsigned long)wanted->ids[i].logical, wanted->ids[i].is_physical);
    uint32_t number = cn_names_add(&ranges->keys, cn_text_str(&key));
    cn_text_done(&key);
    if (number == ranges->count) {
        CN_PUSH(ranges->contexts, ranges->count, ranges->capacity, *wanted);
    }
    return &ranges->contexts[number];
}

/* The node of the kernel is above that of the GPU context. */
static void note_launch(struct cn_range_context *to,
                        const struct cn_sampled_profile *profile,
                        const struct cn_sampled_nodes *nodes,
                        const struct cn_sampled_value *value, uint32_t metric)
{
    const struct cn_sampled_node *range = &profile->nodes[value->node];
    uint32_t kernel = profile->nodes[range->parent].parent;
    uint32_t above = profile->nodes[kernel].parent;
    const struct cn_sampled_node_contexts *at = &nodes->list[kernel];
    const struct cn_sampled_metric *of = &profile->metrics[value->metric];
    struct range_launch launch = {
        .range = range->address,
        .parent = above == CN_NONE ? 0 : nodes->list[above].last,
        .entry = at->first,
    };

    CN_PUSH(to->measured, to->measured_count, to->measured_capacity,
            (struct measured){of->is_moved ? at->first : at->last, metric, value->value});
    if (cn_bytes_equal(of->name, CN_REACH_LAUNCHES))
        launch.count = value->value;
    else if (cn_bytes_equal(of->name, CN_REACH_SAMPLED_LAUNCHES))
        launch.sampled_count = value->value;
    CN_PUSH(to->launches, to->launch_count, to->launch_capacity, launch);
}

static void note_sample(struct cn_range_context *to,
                        const struct cn_sampled_profile *profile,
                        const struct cn_sampled_nodes *nodes,
                        const struct cn_sampled_value *value, uint32_t metric)
{
    const struct cn_sampled_node *node = &profile->nodes[value->node];

    CN_PUSH(to->samples, to->sample_count, to->sample_capacity,
            (struct range_sample){
                .range = profile->nodes[node->parent].address,
                .address = node->address,
                .module = nodes->modules[node->module],
                .metric = metric,
                .value = value->value,
                .is_moved = profile->metrics[value->metric].is_moved,
            });
}

bool cn_sampled_ranges_note(struct cn_sampled_ranges *ranges,
                            const struct cn_sampled_profile *profile,
                            const struct cn_sampled_nodes *nodes,
                            const struct cn_sampled_value *value, uint32_t metric,
                            struct cn_error *err)
{
    const struct cn_sampled_node *node = &profile->nodes[value->node];
    struct cn_range_context wanted = {0};
    uint32_t range = node->kind == CN_NODE_RANGE_SAMPLE ? node->parent : value->node;
    uint64_t gpu_context = profile->nodes[profile->nodes[range].parent].address;

    if (!identify(ranges->identities, profile, gpu_context, &wanted, err))
        return false;
    if (node->kind == CN_NODE_RANGE_SAMPLE)
        note_sample(find_context(ranges, &wanted), profile, nodes, value, metric);
    else
        note_launch(find_context(ranges, &wanted), profile, nodes, value, metric);
    return true;
}

const struct cn_identity *
cn_sampled_ranges_identity(const struct cn_sampled_ranges *ranges, size_t index,
                           size_t *count)
{
    *count = ranges->contexts[index].id_count;
    return ranges->contexts[index].ids;
}

static int compare_launches(const void *left, const void *right)
{
    const struct range_launch *a = left, *b = right;

    if (a->range != b->range)
        return a->range < b->range ? -1 : 1;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return (a->entry > b->entry) - (a->entry < b->entry);
}

static int compare_samples(const void *left, const void *right)
{
    const struct range_sample *a = left, *b = right;

    if (a->range != b->range)
        return a->range < b->range ? -1 : 1;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

/* Sort launches, one entry for each kernel in each range. */
static void sort_launches(struct cn_range_context *c)
{
    size_t last = 0;

    if (c->launch_count == 0)
        return;
    qsort(c->launches, c->launch_count, sizeof(*c->launches), compare_launches);
    for (size_t i = 1; i < c->launch_count; i++) {
        if (compare_launches(&c->launches[last], &c->launches[i]) == 0) {
            c->launches[last].count += c->launches[i].count;
            c->launches[last].sampled_count += c->launches[i].sampled_count;
        } else {
            c->launches[++last] = c->launches[i];
        }
    }
    c->launch_count = last + 1;
}

static double launches_of(const struct range_launch *launch)
{
    return launch->sampled_count > 0 ? launch->sampled_count : launch->count;
}

/* Launches of the same function share its samples. */
static void add_points(struct cn_sampled_reach *reach,
                       const struct range_launch *launches, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += launches_of(&launches[i]);
    for (size_t i = 0; i < count; i++) {
        double share = sum > 0 ? launches_of(&launches[i]) / sum : 1 / (double)count;

        cn_sampled_reach_add_point(
            reach, (struct cn_reach_point){launches[i].parent, launches[i].entry,
                                           launches[i].function, share});
    }
}

static void set_points(struct cn_sampled_reach *reach,
                       const struct range_launch *launches, size_t count)
{
    size_t next;

    cn_sampled_reach_begin_points(reach);
    for (size_t at = 0; at < count; at = next) {
        next = at + 1;
        while (next < count && launches[next].function == launches[at].function)
            next++;
        add_points(reach, launches + at, next - at);
    }
}

/* Add a sample without a possible launch, with unknown callers. */
static bool add_unreached(struct cn_sampled_contexts *contexts,
                          struct cn_sampled_values *values,
                          const struct range_sample *sample, struct cn_error *err)
{
    struct cn_sampled_expansion at;

    if (!cn_sampled_contexts_expand(contexts,
                                    cn_sampled_contexts_entry(contexts, CN_ENTRY_UNKNOWN),
                                    sample->module, sample->address, &at, err))
        return false;
    cn_sampled_values_fit(values, contexts->count);
    cn_sampled_values_add(values, sample->is_moved ? at.first : at.last, sample->metric,
                          sample->value);
    return true;
}

/* The values of one instruction in a range. */
static bool add_instruction(struct cn_sampled_reach *reach,
                            struct cn_sampled_contexts *contexts,
                            struct cn_sampled_values *values,
                            const struct range_sample *samples, size_t count,
                            struct cn_error *err)
{
    struct cn_sampled_spot spot = {CN_REACH_POINTS, samples->module, samples->address};
    uint32_t share;

    if (!cn_sampled_reach_find(reach, contexts, &spot, &share, err))
        return false;
    cn_sampled_values_fit(values, contexts->count);
    for (size_t i = 0; i < count; i++) {
        if (share == CN_NONE) {
            if (!add_unreached(contexts, values, &samples[i], err))
                return false;
        } else {
            cn_sampled_values_spread(values, &reach->shares[share], samples[i].metric,
                                     samples[i].is_moved, samples[i].value);
        }
    }
    return true;
}

static bool add_range(struct cn_sampled_reach *reach,
                      struct cn_sampled_contexts *contexts,
                      struct cn_sampled_values *values,
                      const struct range_sample *samples, size_t count,
                      struct cn_error *err)
{
    size_t next;

    cn_sampled_reach_begin_samples(reach);
    for (size_t i = 0; i < count; i++)
        cn_sampled_reach_note_sample(reach,
                                     &(struct cn_sampled_spot){CN_REACH_POINTS,
                                                               samples[i].module,
                                                               samples[i].address},
                                     samples[i].metric, samples[i].value);
    cn_sampled_reach_ready(reach);
    for (size_t at = 0; at < count; at = next) {
        for (next = at + 1; next < count; next++)
            if (compare_samples(&samples[at], &samples[next]) != 0)
                break;
        if (!add_instruction(reach, contexts, values, samples + at, next - at, err))
            return false;
    }
    return true;
}

static bool add_ranges(struct cn_sampled_reach *reach, struct cn_range_context *c,
                       struct cn_sampled_contexts *contexts,
                       struct cn_sampled_values *values, struct cn_error *err)
{
    size_t launch = 0, launch_end, next;

    for (size_t at = 0; at < c->sample_count; at = next) {
        uint64_t range = c->samples[at].range;

        for (next = at + 1; next < c->sample_count && c->samples[next].range == range;)
            next++;
        while (launch < c->launch_count && c->launches[launch].range < range)
            launch++;
        launch_end = launch;
        while (launch_end < c->launch_count && c->launches[launch_end].range == range)
            launch_end++;
        set_points(reach, launch < launch_end ? &c->launches[launch] : NULL,
                   launch_end - launch);
        if (!add_range(reach, contexts, values, c->samples + at, next - at, err))
            return false;
    }
    return true;
}

bool cn_sampled_ranges_add(struct cn_sampled_ranges *ranges, size_t index,
                           struct cn_sampled_contexts *contexts,
                           struct cn_sampled_values *values, struct cn_error *err)
{
    struct cn_range_context *c = &ranges->contexts[index];
    const struct cn_sampled_metrics *metrics = values->metrics;

    cn_sampled_reach_begin_measured(&ranges->reach, metrics, c->sample_count);
    for (size_t i = 0; i < c->measured_count; i++) {
        const struct measured *m = &c->measured[i];

        cn_sampled_values_add(values, m->context, m->metric, m->value);
        cn_sampled_reach_note_value(&ranges->reach, m->context, m->metric, m->value);
    }
    for (size_t i = 0; i < c->launch_count; i++)
        c->launches[i].function =
            cn_sampled_context_at(contexts, c->launches[i].entry)->function;
    sort_launches(c);
    if (c->sample_count > 0)
        qsort(c->samples, c->sample_count, sizeof(*c->samples), compare_samples);
    return add_ranges(&ranges->reach, c, contexts, values, err);
}

void cn_sampled_ranges_done(struct cn_sampled_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        free(ranges->contexts[i].launches);
        free(ranges->contexts[i].measured);
        free(ranges->contexts[i].samples);
    }
    free(ranges->contexts);
    cn_names_done(&ranges->keys);
    cn_sampled_reach_done(&ranges->reach);
    *ranges = (struct cn_sampled_ranges){0};
}
