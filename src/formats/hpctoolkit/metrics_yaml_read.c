#include "formats/hpctoolkit/metrics_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"

enum {
    MERGE_DEPTH_MAX = 8,
    VARIANT_NAME_MAX = 256, /* YAML limits simple keys */
    FORMAT_LEN_MAX = 64,
    FORMAT_NUMBER_MAX = 99, /* of width and precision */
};

struct metrics_yaml_reader {
    struct cn_arena *arena;
    struct cn_yaml_budget budget;
    struct cn_names keys; /* of the inputs */
    uint32_t *input_of;   /* by the key's number */
    size_t input_of_capacity;
    struct cn_input *inputs;
    size_t input_count, input_capacity;
};

static const char *scalar_text(const struct cn_yaml_node *node)
{
    return node && node->type == CN_YAML_SCALAR ? node->text : NULL;
}

/* Skip the digits of a width or precision; NULL if the number is too large. */
static const char *skip_digits(const char *at)
{
    size_t len = strspn(at, "0123456789");

    if (len > 0 && strtoul(at, NULL, 10) > FORMAT_NUMBER_MAX)
        return NULL;
    return at + len;
}

/* The end of the conversion after a percent sign; NULL if it is not one of a double. */
static const char *skip_conversion(const char *at)
{
    at = skip_digits(at + strspn(at, "#0- +'"));
    if (at && *at == '.')
        at = skip_digits(at + 1);
    if (!at || *at == '\0' || !strchr("eEfFgGaA", *at))
        return NULL;
    return at + 1;
}

/* `[prefix]%[flags][width][.precision]conversion[suffix]`: anything else could make
 * printf read arguments that were not passed. */
static bool is_number_format(const char *format)
{
    size_t conversions = 0;
    const char *at = format;

    if (strlen(format) > FORMAT_LEN_MAX)
        return false;
    while ((at = strchr(at, '%'))) {
        if (at[1] == '%') {
            at += 2;
            continue;
        }
        conversions++;
        at = skip_conversion(at + 1);
        if (!at)
            return false;
    }
    return conversions == 1;
}

static const char *read_format(const struct cn_yaml_node *mapping)
{
    const char *format = scalar_text(cn_yaml_find(mapping, "format"));

    return format && is_number_format(format) ? format : NULL;
}

/* The value of a key; NULL if there is none, or it is null. */
static const struct cn_yaml_node *find_value(const struct cn_yaml_node *mapping,
                                             const char *key)
{
    const struct cn_yaml_node *value = cn_yaml_find(mapping, key);

    return value && !cn_yaml_is_null(value) ? value : NULL;
}

static void push_input(struct metrics_yaml_reader *r, const struct cn_input *input)
{
    CN_PUSH(r->inputs, r->input_count, r->input_capacity, *input);
}

/* The index of an input; a new one gets r->input_count, and is still to be pushed. */
static uint32_t find_input(struct metrics_yaml_reader *r, const struct cn_input *input)
{
    size_t known = r->keys.count;
    char *key =
        cn_strprintf("%zu:%s%zu:%s%u:%s", strlen(input->metric), input->metric,
                     strlen(input->scope), input->scope, input->combine, input->formula);
    uint32_t number = cn_names_add(&r->keys, key);

    free(key);
    if (r->keys.count > known) {
        CN_GROW(r->input_of, number, r->input_of_capacity);
        r->input_of[number] = (uint32_t)r->input_count;
    }
    return r->input_of[number];
}

static bool find_merged(struct metrics_yaml_reader *r, const struct cn_yaml_node *node,
                        const char *key, unsigned depth, const struct cn_yaml_node **out,
                        struct cn_error *err);

/* Search what `<<` refers to: a mapping or a sequence of mappings. */
static bool find_in_merges(struct metrics_yaml_reader *r,
                           const struct cn_yaml_node *merge, const char *key,
                           unsigned depth, const struct cn_yaml_node **out,
                           struct cn_error *err)
{
    if (merge->type == CN_YAML_MAPPING)
        return find_merged(r, merge, key, depth + 1, out, err);
    if (!cn_yaml_visit(&r->budget, merge, err))
        return false;
    for (const struct cn_yaml_item *item = merge->items; item && !*out; item = item->next)
        if (!find_merged(r, item->node, key, depth + 1, out, err))
            return false;
    return true;
}

/* The value of a key, in the node itself or in what it merges; NULL if there is none. */
static bool find_merged(struct metrics_yaml_reader *r, const struct cn_yaml_node *node,
                        const char *key, unsigned depth, const struct cn_yaml_node **out,
                        struct cn_error *err)
{
    if (depth > MERGE_DEPTH_MAX)
        return cn_yaml_fail(node, err, CN_ERR_LIMIT, "merge keys nest deeper than %d",
                            MERGE_DEPTH_MAX);
    if (!cn_yaml_visit(&r->budget, node, err))
        return false;
    *out = cn_yaml_find(node, key);
    const struct cn_yaml_node *merge = *out ? NULL : cn_yaml_find(node, "<<");
    return !merge || find_in_merges(r, merge, key, depth, out, err);
}

/* A text of an input. If it is missing: `otherwise`, or failure if that is NULL. */
static bool read_input_text(struct metrics_yaml_reader *r,
                            const struct cn_yaml_node *node, const char *key,
                            const char *otherwise, const char **out, struct cn_error *err)
{
    const struct cn_yaml_node *value = NULL;

    if (!find_merged(r, node, key, 0, &value, err))
        return false;
    if (!value && !otherwise)
        return cn_yaml_fail(node, err, CN_ERR_FORMAT, "input without %s", key);
    if (value && value->type != CN_YAML_SCALAR)
        return cn_yaml_fail(value, err, CN_ERR_FORMAT, "%s must be a text", key);
    *out = value ? value->text : otherwise;
    return true;
}

static bool find_combine(const char *name, uint8_t *out)
{
    for (uint8_t combine = CN_COMBINE_SUM; combine <= CN_COMBINE_MAX; combine++) {
        if (strcmp(cn_combine_name(combine), name) == 0) {
            *out = combine;
            return true;
        }
    }
    return false;
}

/* Statistics are found by their formula's canonical text. A formula that does not parse is
 * left unchanged: it matches no statistic. */
static const char *canonical_formula(struct metrics_yaml_reader *r, const char *text)
{
    struct cn_error ignored = {0};
    struct cn_arena scratch = {0};
    struct cn_text printed = {0};
    const struct cn_formula *formula;
    const char *canonical = text;

    if (cn_formula_parse(&formula, text, &scratch, &ignored)) {
        cn_formula_print(formula, &printed);
        canonical = cn_arena_strdup(r->arena, cn_text_str(&printed));
    }
    cn_text_done(&printed);
    cn_arena_done(&scratch);
    return canonical;
}

static bool read_input(struct metrics_yaml_reader *r, struct cn_yaml_node *node,
                       struct cn_error *err)
{
    struct cn_input input = {0};
    const char *formula, *combine;

    if (!read_input_text(r, node, "metric", NULL, &input.metric, err) ||
        !read_input_text(r, node, "scope", NULL, &input.scope, err) ||
        !read_input_text(r, node, "formula", "$$", &formula, err) ||
        !read_input_text(r, node, "combine", "sum", &combine, err))
        return false;
    if (!find_combine(combine, &input.combine))
        return cn_yaml_fail(node, err, CN_ERR_FORMAT,
                            "combine '%.40s' is none of sum, min, max", combine);
    input.formula = canonical_formula(r, formula);
    uint32_t index = find_input(r, &input);
    if (index == r->input_count)
        push_input(r, &input);
    node->mark = index + 1;
    return true;
}

static bool add_render(const struct cn_yaml_node *node, unsigned *render,
                       struct cn_error *err)
{
    static const struct {
        const char *name;
        unsigned bit;
    } names[] = {
        {"number", CN_RENDER_NUMBER},      {"percent", CN_RENDER_PERCENT},
        {"percentage", CN_RENDER_PERCENT}, {"hidden", CN_RENDER_HIDDEN},
        {"colorbar", CN_RENDER_COLORBAR},
    };
    const char *text = scalar_text(node);

    for (size_t i = 0; text && i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(names[i].name, text) == 0) {
            *render |= names[i].bit;
            return true;
        }
    }
    return cn_yaml_fail(node, err, CN_ERR_FORMAT, "unknown rendering '%.40s'",
                        text ? text : "...");
}

static bool read_render(struct metrics_yaml_reader *r, const struct cn_yaml_node *node,
                        unsigned *out, struct cn_error *err)
{
    *out = 0;
    if (!node) {
        *out = CN_RENDER_NUMBER;
        return true;
    }
    if (node->type == CN_YAML_SCALAR)
        return add_render(node, out, err);
    if (!cn_yaml_visit(&r->budget, node, err))
        return false;
    for (const struct cn_yaml_item *item = node->items; item; item = item->next)
        if (!add_render(item->node, out, err))
            return false;
    return true;
}

static bool read_optional_formula(struct metrics_yaml_reader *r,
                                  const struct cn_yaml_node *node,
                                  const struct cn_formula **out, struct cn_error *err)
{
    return !node || cn_yaml_formula_read(out, node, &r->budget, r->arena, err);
}

/* {standard: formula, custom: formula}, or in older files one formula alone. */
static bool read_cost(struct metrics_yaml_reader *r, const struct cn_yaml_node *node,
                      struct cn_cost_formulas *out, struct cn_error *err)
{
    if (!node)
        return true;
    if (!cn_yaml_visit(&r->budget, node, err))
        return false;
    const struct cn_yaml_node *standard = cn_yaml_find(node, "standard");
    const struct cn_yaml_node *custom = cn_yaml_find(node, "custom");
    if (node->mark > 0 || (!standard && !custom))
        return read_optional_formula(r, node, &out->standard, err);
    return read_optional_formula(r, standard, &out->standard, err) &&
           read_optional_formula(r, custom, &out->custom, err);
}

/* The formulas of a variant by slot. */
enum { SLOT_COUNT = 4 };

static const struct cn_formula **formula_slot(struct cn_variant *variant, unsigned slot)
{
    struct cn_cost_formulas *cost = slot < 2 ? &variant->total : &variant->self;

    return slot % 2 == 0 ? &cost->standard : &cost->custom;
}

static const struct cn_formula *formula_in(const struct cn_variant *variant,
                                           unsigned slot)
{
    struct cn_variant copy = *variant;

    return *formula_slot(&copy, slot);
}

static const struct cn_variant *find_variant(const struct cn_presented_metric *metric,
                                             const char *name)
{
    for (size_t i = 0; i < metric->variant_count; i++)
        if (strcmp(metric->variants[i].name, name) == 0)
            return &metric->variants[i];
    return NULL;
}

struct child_variants {
    const struct cn_variant **list;
    size_t count;
};

static const struct cn_formula *sum_of(struct metrics_yaml_reader *r,
                                       const struct child_variants *children,
                                       unsigned slot, bool first_only)
{
    const struct cn_formula **args = cn_alloc(children->count, sizeof(*args));
    const struct cn_formula *result = NULL;
    size_t count = 0;

    for (size_t i = 0; i < children->count && !(first_only && count > 0); i++) {
        args[count] = formula_in(children->list[i], slot);
        count += args[count] != NULL;
    }
    if (count == 1)
        result = args[0];
    else if (count > 1)
        result = cn_formula_new(r->arena, CN_FORMULA_ADD, args, count);
    free(args);
    return result;
}

/* Replace 'first' and 'sum' by formulas of the children, so that users of the taxonomy need
 * not know them. */
static bool expand_children(struct metrics_yaml_reader *r,
                            const struct cn_yaml_node *node,
                            const struct cn_presented_metric *metric, const char *name,
                            struct cn_variant *variant, struct cn_error *err)
{
    struct child_variants children = {
        .list = cn_alloc(metric->child_count, sizeof(*children.list)),
    };
    bool ok = true;

    for (size_t i = 0; ok && i < metric->child_count; i++) {
        const struct cn_presented_metric *child = &metric->children[i];
        const struct cn_variant *found = find_variant(child, name);

        ok = cn_yaml_spend(&r->budget, 1 + child->variant_count, node, err);
        if (found)
            children.list[children.count++] = found;
    }
    for (unsigned slot = 0; ok && slot < SLOT_COUNT; slot++) {
        const struct cn_formula *formula =
            sum_of(r, &children, slot, strcmp(node->text, "first") == 0);

        if (formula && formula->depth > CN_FORMULA_DEPTH_MAX)
            ok = cn_yaml_fail(node, err, CN_ERR_LIMIT, "formula nests %u deep, limit %d",
                              formula->depth, CN_FORMULA_DEPTH_MAX);
        *formula_slot(variant, slot) = formula;
    }
    free(children.list);
    return ok;
}

static bool read_variant_formula(struct metrics_yaml_reader *r,
                                 const struct cn_yaml_node *node,
                                 const struct cn_presented_metric *metric,
                                 struct cn_variant *variant, struct cn_error *err)
{
    const struct cn_yaml_node *formula = find_value(node, "formula");
    const char *child_variant = scalar_text(cn_yaml_find(node, "child variant"));

    if (!formula)
        return true;
    const char *text = scalar_text(formula);
    if (text && (strcmp(text, "sum") == 0 || strcmp(text, "first") == 0)) {
        variant->children = text;
        variant->child_variant = child_variant ? child_variant : variant->name;
        return expand_children(r, formula, metric, variant->child_variant, variant, err);
    }
    if (formula->type != CN_YAML_MAPPING || formula->mark > 0)
        return cn_yaml_fail(formula, err, CN_ERR_FORMAT,
                            "a variant's formula must be sum, first, or "
                            "a mapping of inclusive and exclusive");
    return cn_yaml_visit(&r->budget, formula, err) &&
           read_cost(r, cn_yaml_find(formula, "inclusive"), &variant->total, err) &&
           read_cost(r, cn_yaml_find(formula, "exclusive"), &variant->self, err);
}

static bool read_variant(struct metrics_yaml_reader *r, const struct cn_yaml_node *key,
                         const struct cn_yaml_node *node,
                         const struct cn_presented_metric *metric, struct cn_variant *out,
                         struct cn_error *err)
{
    if (key->type != CN_YAML_SCALAR || strlen(key->text) > VARIANT_NAME_MAX)
        return cn_yaml_fail(key, err, CN_ERR_FORMAT,
                            "a variant's name must be a text of at most %d bytes",
                            VARIANT_NAME_MAX);
    *out = (struct cn_variant){.name = key->text};
    if (!cn_yaml_visit(&r->budget, node, err) ||
        !read_render(r, find_value(node, "render"), &out->render, err))
        return false;
    out->format = read_format(node);
    return read_variant_formula(r, node, metric, out, err);
}

static bool read_variants(struct metrics_yaml_reader *r, const struct cn_yaml_node *node,
                          struct cn_presented_metric *metric, struct cn_error *err)
{
    struct cn_variant *variants;
    size_t count = 0;

    if (!node)
        return true;
    if (node->type != CN_YAML_MAPPING)
        return cn_yaml_fail(node, err, CN_ERR_FORMAT, "variants must be a mapping");
    if (!cn_yaml_visit(&r->budget, node, err))
        return false;
    variants = cn_arena_alloc(r->arena, node->item_count / 2, sizeof(*variants));
    for (const struct cn_yaml_item *item = node->items; item; item = item->next->next)
        if (!read_variant(r, item->node, item->next->node, metric, &variants[count++],
                          err))
            return false;
    metric->variants = variants;
    metric->variant_count = count;
    return true;
}

static bool read_metrics(struct metrics_yaml_reader *r, const struct cn_yaml_node *node,
                         unsigned depth, const struct cn_presented_metric **list,
                         size_t *count, struct cn_error *err);

static bool is_false(const char *text)
{
    return strcasecmp(text, "false") == 0 || strcasecmp(text, "no") == 0 ||
           strcasecmp(text, "off") == 0;
}

static bool read_metric(struct metrics_yaml_reader *r, const struct cn_yaml_node *node,
                        unsigned depth, struct cn_presented_metric *out,
                        struct cn_error *err)
{
    const char *visible = scalar_text(cn_yaml_find(node, "visible by default"));

    if (!cn_yaml_visit(&r->budget, node, err))
        return false;
    *out = (struct cn_presented_metric){
        .name = scalar_text(cn_yaml_find(node, "name")),
        .description = scalar_text(cn_yaml_find(node, "description")),
        .is_visible = !visible || !is_false(visible),
        .format = read_format(node),
    };
    if (!out->name)
        return cn_yaml_fail(node, err, CN_ERR_FORMAT, "metric without a name");
    return read_metrics(r, find_value(node, "children"), depth + 1, &out->children,
                        &out->child_count, err) &&
           read_variants(r, find_value(node, "variants"), out, err);
}

/* Recursion is at most CN_TAXONOMY_DEPTH_MAX deep. */
static bool read_metrics(struct metrics_yaml_reader *r, const struct cn_yaml_node *node,
                         unsigned depth, const struct cn_presented_metric **list,
                         size_t *count, struct cn_error *err)
{
    struct cn_presented_metric *metrics;
    size_t at = 0;

    if (!node)
        return true;
    if (node->type != CN_YAML_SEQUENCE)
        return cn_yaml_fail(node, err, CN_ERR_FORMAT, "metrics must be a sequence");
    if (depth > CN_TAXONOMY_DEPTH_MAX)
        return cn_yaml_fail(node, err, CN_ERR_LIMIT, "metrics nest deeper than %d",
                            CN_TAXONOMY_DEPTH_MAX);
    if (!cn_yaml_visit(&r->budget, node, err))
        return false;
    metrics = cn_arena_alloc(r->arena, node->item_count, sizeof(*metrics));
    for (const struct cn_yaml_item *item = node->items; item; item = item->next)
        if (!read_metric(r, item->node, depth, &metrics[at++], err))
            return false;
    *list = metrics;
    *count = at;
    return true;
}

static bool check_version(const struct cn_yaml_node *root, struct cn_error *err)
{
    const struct cn_yaml_node *version = cn_yaml_find(root, "version");
    const char *text = scalar_text(version);

    if (!version || (text && strcmp(text, "0") == 0))
        return true;
    return cn_yaml_fail(version, err, CN_ERR_VERSION, "version '%.40s', can read 0",
                        text ? text : "...");
}

static bool read_root(struct metrics_yaml_reader *r, const struct cn_yaml_node *root,
                      struct cn_taxonomy *out, struct cn_error *err)
{
    if (root->type != CN_YAML_MAPPING)
        return cn_yaml_fail(root, err, CN_ERR_FORMAT,
                            "not a mapping of inputs and roots");
    const struct cn_yaml_node *inputs = cn_yaml_find(root, "inputs");
    const struct cn_yaml_node *roots = find_value(root, "roots");
    if (!check_version(root, err))
        return false;
    for (struct cn_yaml_item *item = inputs ? inputs->items : NULL; item;
         item = item->next)
        if (!read_input(r, item->node, err))
            return false;
    return read_metrics(r, roots, 1, &out->roots, &out->root_count, err);
}

/* Read the roots of `text`. Inputs of `base` keep their numbers; new ones follow. */
static bool read_after(struct cn_bytes text, const struct cn_taxonomy *base,
                       struct cn_taxonomy *out, struct cn_arena *arena,
                       struct cn_error *err)
{
    struct metrics_yaml_reader r = {.arena = arena};
    struct cn_yaml_tree tree;
    struct cn_taxonomy taxonomy = {0};
    struct cn_input *inputs;

    if (!cn_yaml_tree_read(&tree, text, arena, err))
        return false;
    if (!tree.root)
        return cn_fail(err, CN_ERR_FORMAT, "no YAML document");
    r.budget.left = 4 * tree.node_count + 65536;
    for (size_t i = 0; i < base->input_count; i++) {
        (void)find_input(&r, &base->inputs[i]);
        push_input(&r, &base->inputs[i]);
    }
    bool ok = read_root(&r, tree.root, &taxonomy, err);
    if (ok) {
        inputs = cn_arena_alloc(arena, r.input_count, sizeof(*inputs));
        if (r.input_count > 0)
            memcpy(inputs, r.inputs, r.input_count * sizeof(*inputs));
        taxonomy.inputs = inputs;
        taxonomy.input_count = r.input_count;
        *out = taxonomy;
    }
    cn_names_done(&r.keys);
    free(r.input_of);
    free(r.inputs);
    return ok;
}

bool cn_hpc_metrics_yaml_read(struct cn_bytes text, struct cn_taxonomy *out,
                              struct cn_arena *arena, struct cn_error *err)
{
    const struct cn_taxonomy nothing = {0};

    return read_after(text, &nothing, out, arena, err);
}

bool cn_hpc_metrics_yaml_append(struct cn_bytes text, struct cn_taxonomy *taxonomy,
                                struct cn_arena *arena, struct cn_error *err)
{
    struct cn_taxonomy more;

    if (!read_after(text, taxonomy, &more, arena, err))
        return false;
    size_t root_count = taxonomy->root_count + more.root_count;
    struct cn_presented_metric *roots = cn_arena_alloc(arena, root_count, sizeof(*roots));
    for (size_t i = 0; i < root_count; i++)
        roots[i] = i < taxonomy->root_count ? taxonomy->roots[i]
                                            : more.roots[i - taxonomy->root_count];
    *taxonomy = (struct cn_taxonomy){
        .inputs = more.inputs,
        .roots = roots,
        .input_count = more.input_count,
        .root_count = root_count,
    };
    return true;
}
