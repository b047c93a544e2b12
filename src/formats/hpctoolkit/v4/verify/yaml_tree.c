/* What the readers of others expect of metrics/default.yaml as a tree of YAML: they cast
 * values and look keys up without asking whether they exist. */
#include "formats/hpctoolkit/yaml_tree.h"
#include "base/regex.h"
#include "formats/hpctoolkit/v4/verify/parts.h"

/* Plain scalars that YAML 1.1 takes for truth values, numbers and dates. */
static const char not_text[] =
    "^(yes|no|true|false|on|off|[-+]?(0b[01_]+|0x[0-9a-f_]+|[0-9][0-9_]*(:[0-5]?[0-9])*"
    "(\\.[0-9_]*)?(e[-+]?[0-9]+)?|\\.[0-9_]+(e[-+]?[0-9]+)?|\\.inf)|\\.nan|"
    "[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?([Tt ].*)?)$";

struct yaml_check {
    struct cn_findings *f;
    struct cn_regex *not_text;
};

static bool is_text(const struct yaml_check *c, const struct cn_yaml_node *node)
{
    return node->type == CN_YAML_SCALAR &&
           !(node->is_plain &&
             cn_regex_matches(c->not_text, node->text, strlen(node->text)));
}

static void check_text(const struct yaml_check *c, const struct cn_yaml_node *node,
                       const char *what)
{
    if (node && !is_text(c, node))
        cn_findings_error(c->f, "yaml-text", 0,
                          "line %zu: %s %.40s is not a text: quote it; hpcviewer fails",
                          node->line, what, node->text ? node->text : "...");
}

static void check_input(const struct yaml_check *c, const struct cn_yaml_node *input)
{
    static const char *const keys[] = {"formula", "combine"};

    for (size_t i = 0; i < 2; i++)
        if (!cn_yaml_find(input, keys[i]) && !cn_yaml_find(input, "<<"))
            cn_findings_error(c->f, "yaml-input", 0,
                              "line %zu: an input without %s; hpcviewer fails",
                              input->line, keys[i]);
}

/* Recursion is at most CN_FORMULA_DEPTH_MAX deep. */
static void check_formula(const struct yaml_check *c, const struct cn_yaml_node *node)
{
    if (node->type == CN_YAML_SCALAR) {
        cn_findings_error(c->f, "yaml-number", 0,
                          "line %zu: a formula that is not an input or an operator; "
                          "hpcviewer fails",
                          node->line);
        return;
    }
    if (cn_yaml_find(node, "metric") || cn_yaml_find(node, "<<"))
        return;
    const struct cn_yaml_node *args =
        node->type == CN_YAML_MAPPING && node->items ? node->items->next->node : NULL;
    if (!args || args->type != CN_YAML_SEQUENCE || args->item_count < 1 ||
        args->item_count > 2) {
        cn_findings_error(c->f, "yaml-arguments", 0,
                          "line %zu: not an operator with a list of one or two "
                          "arguments; hpcviewer fails",
                          node->line);
        return;
    }
    for (const struct cn_yaml_item *item = args->items; item; item = item->next)
        if (item->node->type != CN_YAML_SCALAR)
            check_formula(c, item->node);
}

/* {standard: formula, custom: formula}, or in older files one formula alone. */
static void check_cost(const struct yaml_check *c, const struct cn_yaml_node *cost)
{
    if (!cost)
        return;
    const struct cn_yaml_node *standard = cn_yaml_find(cost, "standard");
    const struct cn_yaml_node *custom = cn_yaml_find(cost, "custom");
    if (standard)
        check_formula(c, standard);
    if (custom)
        check_formula(c, custom);
    if (!standard && !custom)
        check_formula(c, cost);
}

static void check_variant(const struct yaml_check *c, const struct cn_yaml_node *name,
                          const struct cn_yaml_node *variant)
{
    const struct cn_yaml_node *formula = cn_yaml_find(variant, "formula");

    check_text(c, name, "the variant");
    if (cn_yaml_is_null(name) || variant->type != CN_YAML_MAPPING)
        cn_findings_error(c->f, "yaml-variants", 0,
                          "line %zu: a variant without a name or a mapping; hpcviewer "
                          "fails",
                          name->line);
    if (formula) {
        check_cost(c, cn_yaml_find(formula, "inclusive"));
        check_cost(c, cn_yaml_find(formula, "exclusive"));
    }
}

/* Recursion is at most CN_TAXONOMY_DEPTH_MAX deep. */
static void check_metric(const struct yaml_check *c, const struct cn_yaml_node *metric)
{
    const struct cn_yaml_node *variants = cn_yaml_find(metric, "variants");
    const struct cn_yaml_node *children = cn_yaml_find(metric, "children");

    check_text(c, cn_yaml_find(metric, "name"), "the name");
    check_text(c, cn_yaml_find(metric, "description"), "the description");
    if (!variants || variants->type != CN_YAML_MAPPING)
        cn_findings_error(c->f, "yaml-variants", 0,
                          "line %zu: %.80s has no variants; hpcviewer fails",
                          metric->line, cn_yaml_find(metric, "name")->text);
    for (const struct cn_yaml_item *item = variants ? variants->items : NULL; item;
         item = item->next->next)
        check_variant(c, item->node, item->next->node);
    for (const struct cn_yaml_item *item = children ? children->items : NULL; item;
         item = item->next)
        check_metric(c, item->node);
}

static bool has_item(const struct cn_yaml_node *list, const char *text)
{
    for (const struct cn_yaml_item *item = list->items; item; item = item->next)
        if (item->node->type == CN_YAML_SCALAR && strcmp(item->node->text, text) == 0)
            return true;
    return false;
}

/* Hatchet reads the variant "Sum" of a root, else the unnamed one: its `render` and, for a
 * percentage, its formula. */
static void check_root(const struct yaml_check *c, const struct cn_yaml_node *root)
{
    const struct cn_yaml_node *variants = cn_yaml_find(root, "variants");
    const struct cn_yaml_node *variant, *render, *formula;
    const char *problem = NULL;

    variant = variants ? cn_yaml_find(variants, "Sum") : NULL;
    variant = variants && !variant ? cn_yaml_find(variants, "") : variant;
    if (!variant || variant->type != CN_YAML_MAPPING)
        return;
    render = cn_yaml_find(variant, "render");
    formula = cn_yaml_find(variant, "formula");
    bool has_percent = render && (render->text ? strstr(render->text, "percent") != NULL
                                               : has_item(render, "percent"));
    if (!render || cn_yaml_is_null(render))
        problem = "no 'render'";
    else if (has_percent && (!formula || cn_yaml_is_null(formula)))
        problem = "a percentage, but no formula";
    else if (!has_percent && has_item(render, "percentage"))
        problem = "'percentage' in 'render' instead of 'percent'";
    if (problem)
        cn_findings_warn(c->f, "yaml-hatchet", 0,
                         "line %zu: a root has %s; Hatchet fails", variant->line,
                         problem);
}

static void check_document(const struct yaml_check *c, const struct cn_yaml_tree *tree)
{
    const struct cn_yaml_node *inputs = cn_yaml_find(tree->root, "inputs");
    const struct cn_yaml_node *roots = cn_yaml_find(tree->root, "roots");
    const struct cn_yaml_node *version = cn_yaml_find(tree->root, "version");

    if (tree->has_more)
        cn_findings_error(c->f, "yaml-document", 0,
                          "something follows the first document; hpcviewer and Hatchet "
                          "fail");
    if (tree->tagged)
        cn_findings_error(
            c->f, "yaml-tag", 0,
            "line %zu: a tag that is not of YAML; hpcviewer and Hatchet fail",
            tree->tagged->line);
    if (!version || is_text(c, version))
        cn_findings_error(c->f, "yaml-version", 0,
                          "'version' is not a number; hpcviewer fails");
    for (const struct cn_yaml_item *item = inputs ? inputs->items : NULL; item;
         item = item->next)
        check_input(c, item->node);
    for (const struct cn_yaml_item *item = roots ? roots->items : NULL; item;
         item = item->next) {
        check_metric(c, item->node);
        check_root(c, item->node);
    }
}

void cn_hpc_v4_check_yaml_tree(struct cn_hpc_v4_check *v, struct cn_bytes text)
{
    struct yaml_check c = {.f = &v->m.c.f};
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    struct cn_yaml_tree tree;

    if (cn_yaml_tree_read(&tree, text, &arena, &err) && tree.root &&
        cn_regex_new(&c.not_text, not_text, CN_REGEX_IGNORE_CASE, &err))
        check_document(&c, &tree);
    cn_regex_free(c.not_text);
    cn_arena_done(&arena);
}
