#include "cli/views/lens.h"

#include <math.h>
#include <string.h>

#include "analyze/lens/database.h"
#include "analyze/views/header.h"
#include "base/duration.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "model/contexts/database.h"

/* --group of views of call paths: consecutive functions of a module or language are one row. `flat` has
 * such rows itself. */
static bool add_group(struct cn_lens *lens, const struct cn_args *args,
                      struct cn_error *err)
{
    const char *group = cn_args_value(args, "group");

    if (!group || strcmp(args->command->name, "flat") == 0)
        return true;
    if (strcmp(group, "module") == 0)
        return cn_lens_add(lens, CN_LENS_COLLAPSE, "modules", CN_MATCH_GLOB, err);
    return strcmp(group, "language") != 0 ||
           cn_lens_add(lens, CN_LENS_COLLAPSE, "languages", CN_MATCH_GLOB, err);
}

bool cn_view_lens_parse(struct cn_lens *lens, const struct cn_args *args,
                        struct cn_error *err)
{
    const char *match = cn_args_value(args, "match");
    enum cn_match how =
        match && strcmp(match, "regex") == 0 ? CN_MATCH_REGEX : CN_MATCH_GLOB;
    struct cn_values mine = cn_args_values(args, "mine");
    bool ok = true;

    *lens = (struct cn_lens){0};
    if (cn_args_has(args, "my-code"))
        ok = cn_lens_add_my_code(lens, err);
    ok = ok && add_group(lens, args, err);
    for (unsigned i = 0; ok && i < CN_LENS_ACTIONS; i++) {
        struct cn_values texts = cn_args_values(args, cn_lens_action_name(i));

        for (size_t k = 0; ok && k < texts.count; k++)
            ok = cn_lens_add(lens, (enum cn_lens_action)i, texts.list[k], how, err) ||
                 cn_fail_in(err, "--%s", cn_lens_action_name(i));
    }
    for (size_t i = 0; ok && i < mine.count; i++)
        ok = cn_lens_add_mine(lens, mine.list[i], how, err) || cn_fail_in(err, "--mine");
    return ok;
}

/* The function whose name is nearest to a pattern; NULL: none is near. */
static const char *nearest_function(struct cn_database *db, const char *pattern)
{
    enum { FUNCTIONS_MAX = 100000 };
    struct cn_suggestion near = {.typed = pattern};
    struct cn_function function;
    struct cn_error ignored;

    for (uint32_t i = 0; i < db->function_count && i < FUNCTIONS_MAX; i++)
        if (cn_database_function(db, i, &function, &ignored))
            cn_suggestion_offer(&near, function.name);
    return near.best;
}

static void tell_unmatched(const struct cn_args *args, const struct cn_lens *lens,
                           struct cn_database *db)
{
    for (size_t i = 0; i < lens->count; i++) {
        const struct cn_lens_rule *rule = &lens->rules[i];
        const char *action = cn_lens_action_name(rule->action), *near = NULL;

        if (cn_lens_match_count(db, i) > 0 || rule->subject >= CN_LENS_OF_RECURSION ||
            rule->subject == CN_LENS_OF_KIND)
            continue;
        if (rule->subject == CN_LENS_OF_FUNCTION)
            near = nearest_function(cn_lens_whole(db), rule->text);
        cn_cli_warn(args, "--%s %s matches no function%s%s%s", action, rule->text,
                    near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
}

static bool removes(const struct cn_lens *lens)
{
    for (size_t i = 0; i < lens->count; i++)
        if (lens->rules[i].action == CN_LENS_FOCUS ||
            lens->rules[i].action == CN_LENS_DROP)
            return true;
    return false;
}

void cn_view_lens_tell(const struct cn_args *args, const struct cn_lens *lens,
                       struct cn_database *db)
{
    struct cn_header header;
    struct cn_text text = {0};
    struct cn_error ignored;

    tell_unmatched(args, lens, db);
    if (!removes(lens) || !cn_header_build(&header, db, lens, 0, &ignored) ||
        !(header.whole > 0))
        return;
    double shown = isnan(header.shown) ? 0 : header.shown;
    cn_cost_print(&text, header.metric, shown);
    cn_text_str_add(&text, " of ");
    cn_cost_print(&text, header.metric, header.whole);
    cn_cli_say(args, "%s left by --focus and --drop (%.1f %%); percentages are of that",
               cn_text_str(&text), 100 * shown / header.whole);
    cn_text_done(&text);
}
