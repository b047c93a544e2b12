/* The style is that of hpcprof, byte by byte: users compare such files, and some readers
 * are not full YAML parsers. */

#include "formats/hpctoolkit/metrics_yaml.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/bytes/utf8.h"
#include "base/map.h"
#include "base/text.h"

struct metrics_yaml_writer {
    const struct cn_taxonomy *taxonomy;
    struct cn_text *out;
    struct cn_names anchors; /* by input */
};

/* Words that YAML 1.1 readers do not take for a text. */
static bool is_reserved_word(const char *text)
{
    static const char *const words[] = {"",    "~",  "null", "true", "false",
                                        "yes", "no", "on",   "off",  "y",
                                        "n",   "=",  "<<",   NULL};

    for (size_t i = 0; words[i]; i++)
        if (strcasecmp(words[i], text) == 0)
            return true;
    return false;
}

static bool is_plain_text(const char *text)
{
    size_t len = strlen(text);

    if (is_reserved_word(text) || strchr("-+.?:,[]{}#&*!|>'\"%@` 0123456789", text[0]) ||
        text[len - 1] == ' ' || text[len - 1] == ':')
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f)
            return false;
    return !strstr(text, ": ") && !strstr(text, " #");
}

/* YAML requires control characters, also U+0080..U+009F, to be escaped. */
static bool is_printable(const char *chars, size_t len)
{
    unsigned char lead = (unsigned char)chars[0];

    if (len == 1)
        return lead >= 0x20 && lead != 0x7f;
    if (len == 2)
        return lead != 0xc2 || (unsigned char)chars[1] >= 0xa0;
    return true;
}

/* YAML has no notation for bytes that are not UTF-8; \xHH is the closest. */
static void write_quoted(struct cn_text *out, const char *text)
{
    size_t left = strlen(text);

    cn_text_char(out, '"');
    while (left > 0) {
        size_t len = cn_utf8_char_len(text, left);

        if (*text == '"' || *text == '\\')
            cn_text_char(out, '\\');
        if (len == 0 || (len == 1 && !is_printable(text, len)))
            cn_text_printf(out, "\\x%02x", (unsigned char)*text);
        else if (!is_printable(text, len))
            cn_text_printf(out, "\\x%02x", (unsigned char)text[1]);
        else if (len == 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
            cn_text_str_add(out, "\\ufeff");
        else if (len == 3 && memcmp(text, "\xef\xbf", 2) == 0 &&
                 (unsigned char)text[2] >= 0xbe)
            cn_text_printf(out, "\\uff%02x", 0x40u + (unsigned char)text[2]);
        else
            cn_text_add(out, text, len);
        text += len ? len : 1;
        left -= len ? len : 1;
    }
    cn_text_char(out, '"');
}

static void write_text(struct cn_text *out, const char *text)
{
    if (is_plain_text(text))
        cn_text_str_add(out, text);
    else
        write_quoted(out, text);
}

static void write_key(struct metrics_yaml_writer *w, unsigned indent, const char *key,
                      const char *value)
{
    cn_text_fill(w->out, ' ', indent);
    cn_text_str_add(w->out, key);
    write_text(w->out, value);
    cn_text_char(w->out, '\n');
}

/* A statistic's formula as hpcprof prints it in anchors: "[0x0] ^ 2". */
static void print_expression(const struct cn_formula *formula, bool is_inner,
                             struct cn_text *out)
{
    const char *name = cn_formula_op_name(formula->op, formula->arg_count);
    bool is_call = isalpha((unsigned char)name[0]);

    if (formula->op == CN_FORMULA_INPUT) {
        cn_text_str_add(out, "[0x0]");
        return;
    }
    if (formula->op == CN_FORMULA_NUMBER) {
        cn_formula_number_print(formula->number, out);
        return;
    }
    cn_text_str_add(out, is_call ? name : "");
    cn_text_str_add(out, is_call || is_inner ? "(" : "");
    for (size_t i = 0; i < formula->arg_count; i++) {
        if (i > 0 || formula->op == CN_FORMULA_NEG)
            cn_text_printf(out, is_call ? "%s" : " %s ", is_call ? ", " : name);
        print_expression(formula->args[i], true, out);
    }
    cn_text_str_add(out, is_call || is_inner ? ")" : "");
}

static void add_escaped(struct cn_text *anchor, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x80 && (isalnum(c) || c == '_' || c == '-'))
            cn_text_char(anchor, *text);
        else
            cn_text_printf(anchor, "x%x_", c);
    }
}

static void add_expression(struct cn_text *anchor, const char *formula)
{
    struct cn_arena arena = {0};
    struct cn_error ignored = {0};
    struct cn_text text = {0};
    const struct cn_formula *parsed;

    if (cn_formula_parse(&parsed, formula, &arena, &ignored))
        print_expression(parsed, false, &text);
    else
        cn_text_str_add(&text, formula);
    add_escaped(anchor, cn_text_str(&text));
    cn_text_done(&text);
    cn_arena_done(&arena);
}

/* Escaping is not one-to-one, and names may contain dashes: append a number to anchors
 * that would be equal. */
static void name_anchors(struct metrics_yaml_writer *w)
{
    struct cn_text anchor = {0};

    for (size_t i = 0; i < w->taxonomy->input_count; i++) {
        const struct cn_input *input = &w->taxonomy->inputs[i];

        cn_text_clear(&anchor);
        add_escaped(&anchor, input->metric);
        cn_text_printf(&anchor, "-%s-", cn_combine_name(input->combine));
        add_expression(&anchor, input->formula);
        cn_text_char(&anchor, '-');
        add_escaped(&anchor, input->scope);
        while (cn_names_add(&w->anchors, cn_text_str(&anchor)) != i)
            cn_text_printf(&anchor, "-%zu", i);
    }
    cn_text_done(&anchor);
}

/* hpcprof writes `formula: 1` without quotes. */
static bool is_number(const char *text)
{
    double number;
    size_t len = cn_formula_number_scan(text, &number);

    return len > 0 && text[len] == '\0';
}

static void write_input(struct metrics_yaml_writer *w, size_t index)
{
    const struct cn_input *input = &w->taxonomy->inputs[index];

    cn_text_printf(w->out, "  - &%s\n", w->anchors.list[index]);
    write_key(w, 4, "metric: ", input->metric);
    write_key(w, 4, "scope: ", input->scope);
    if (is_number(input->formula))
        cn_text_printf(w->out, "    formula: %s\n", input->formula);
    else
        write_key(w, 4, "formula: ", input->formula);
    write_key(w, 4, "combine: ", cn_combine_name(input->combine));
}

/* Recursion is at most CN_FORMULA_DEPTH_MAX deep. */
static void write_formula(struct metrics_yaml_writer *w, const struct cn_formula *formula)
{
    const char *name = cn_formula_op_name(formula->op, formula->arg_count);

    if (formula->op == CN_FORMULA_INPUT) {
        cn_text_printf(w->out, "*%s", w->anchors.list[formula->input]);
        return;
    }
    if (formula->op == CN_FORMULA_NUMBER) {
        cn_formula_number_print(formula->number, w->out);
        return;
    }
    cn_text_printf(w->out, strchr("-*", name[0]) ? "{\"%s\": [" : "{%s: [", name);
    for (size_t i = 0; i < formula->arg_count; i++) {
        if (i > 0)
            cn_text_str_add(w->out, ", ");
        write_formula(w, formula->args[i]);
    }
    cn_text_str_add(w->out, "]}");
}

static void write_slot(struct metrics_yaml_writer *w, unsigned indent, const char *key,
                       const struct cn_formula *formula)
{
    if (!formula)
        return;
    cn_text_fill(w->out, ' ', indent);
    cn_text_str_add(w->out, key);
    write_formula(w, formula);
    cn_text_char(w->out, '\n');
}

static void write_cost(struct metrics_yaml_writer *w, unsigned indent, const char *key,
                       const struct cn_cost_formulas *cost)
{
    if (!cost->standard && !cost->custom)
        return;
    cn_text_fill(w->out, ' ', indent);
    cn_text_str_add(w->out, key);
    write_slot(w, indent + 2, "custom: ", cost->custom);
    write_slot(w, indent + 2, "standard: ", cost->standard);
}

static void write_render(struct metrics_yaml_writer *w, unsigned indent, unsigned render)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {
        {CN_RENDER_NUMBER, "number"},
        {CN_RENDER_PERCENT, "percent"},
        {CN_RENDER_HIDDEN, "hidden"},
        {CN_RENDER_COLORBAR, "colorbar"},
    };
    bool is_first = true;

    cn_text_fill(w->out, ' ', indent);
    cn_text_str_add(w->out, "render: [");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!(render & names[i].bit))
            continue;
        cn_text_printf(w->out, "%s%s", is_first ? "" : ", ", names[i].name);
        is_first = false;
    }
    cn_text_str_add(w->out, "]\n");
}

static void write_variant(struct metrics_yaml_writer *w, unsigned indent,
                          const struct cn_variant *variant)
{
    bool has_formula = variant->total.standard || variant->total.custom ||
                       variant->self.standard || variant->self.custom;

    cn_text_fill(w->out, ' ', indent);
    write_text(w->out, variant->name);
    cn_text_str_add(w->out, ":\n");
    write_render(w, indent + 2, variant->render);
    if (variant->format)
        write_key(w, indent + 2, "format: ", variant->format);
    if (variant->children) {
        write_key(w, indent + 2, "formula: ", variant->children);
        if (strcmp(variant->child_variant, variant->name) != 0)
            write_key(w, indent + 2, "child variant: ", variant->child_variant);
        return;
    }
    if (!has_formula)
        return;
    cn_text_fill(w->out, ' ', indent + 2);
    cn_text_str_add(w->out, "formula:\n");
    write_cost(w, indent + 4, "inclusive:\n", &variant->total);
    write_cost(w, indent + 4, "exclusive:\n", &variant->self);
}

static void write_line(struct metrics_yaml_writer *w, unsigned indent, const char *line)
{
    cn_text_fill(w->out, ' ', indent);
    cn_text_str_add(w->out, line);
    cn_text_char(w->out, '\n');
}

/* Recursion is at most CN_TAXONOMY_DEPTH_MAX deep. */
static void write_metric(struct metrics_yaml_writer *w, unsigned indent,
                         const struct cn_presented_metric *metric)
{
    write_key(w, indent, "- name: ", metric->name);
    indent += 2;
    if (metric->description)
        write_key(w, indent, "description: ", metric->description);
    if (!metric->is_visible)
        write_line(w, indent, "visible by default: false");
    if (metric->format)
        write_key(w, indent, "format: ", metric->format);
    if (metric->variant_count > 0)
        write_line(w, indent, "variants:");
    for (size_t i = 0; i < metric->variant_count; i++)
        write_variant(w, indent + 2, &metric->variants[i]);
    if (metric->child_count > 0)
        write_line(w, indent, "children:");
    for (size_t i = 0; i < metric->child_count; i++)
        write_metric(w, indent + 2, &metric->children[i]);
}

void cn_hpc_metrics_yaml_write(const struct cn_taxonomy *taxonomy, struct cn_text *out)
{
    struct metrics_yaml_writer w = {.taxonomy = taxonomy, .out = out};

    name_anchors(&w);
    write_line(&w, 0, "version: 0");
    write_line(&w, 0, taxonomy->input_count > 0 ? "inputs:" : "inputs: []");
    for (size_t i = 0; i < taxonomy->input_count; i++)
        write_input(&w, i);
    write_line(&w, 0, taxonomy->root_count > 0 ? "roots:" : "roots: []");
    for (size_t i = 0; i < taxonomy->root_count; i++)
        write_metric(&w, 2, &taxonomy->roots[i]);
    cn_names_done(&w.anchors);
}
