/* Options that choose which functions the views of a database show (analyze/lens/lens.h).
 *
 * A command puts CN_VIEW_LENS_OPTIONS into its option table; cn_view_open() applies them.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_VIEWS_LENS_H
#define CN_CLI_VIEWS_LENS_H

#include "analyze/lens/lens.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"

/* All but --hide, which views of recordings have for calls. */
#define CN_VIEW_LENS_OTHER_OPTIONS                                                       \
    CN_OPTION("my-code", 0, NULL,                                                        \
              "show only one's own code: hide start-up code, the kernel, run-times and " \
              "libraries; their cost is that of the function that called them"),         \
        CN_OPTION_LIST("mine", 0, "PATTERN",                                             \
                       "what is one's own code: modules, source files or functions "     \
                       "(default: the program, and all that is not of the system, of "   \
                       "packages or of interpreters)"),                                  \
        CN_OPTION_LIST("collapse", 0, "WHAT",                                            \
                       "show consecutive functions of a library as one: a kind of code " \
                       "or a pattern of libraries; modules, languages: all functions, "  \
                       "by one or the other; recursion: calls of a function that is "    \
                       "above"),                                                         \
        CN_OPTION_LIST("focus", 0, "WHAT",                                               \
                       "only paths through these functions; several: through all"),      \
        CN_OPTION_LIST("drop", 0, "WHAT",                                                \
                       "no paths through these functions: remove what they cost"),       \
        CN_OPTION_LIST("prune", 0, "WHAT",                                               \
                       "show nothing below these functions: what they call is part of "  \
                       "their self cost")

#define CN_VIEW_LENS_OPTIONS                                                         \
    CN_OPTION_LIST("hide", 0, "WHAT",                                                \
                   "do not show these functions: their self cost is that of the "    \
                   "nearest shown caller. WHAT is a kind of code (kernel, runtime, " \
                   "library, startup, mine), language:NAME, module:PATTERN, "        \
                   "file:PATTERN, =NAME, or a pattern of names"),                    \
        CN_VIEW_LENS_OTHER_OPTIONS

struct cn_database;

/* The lens that the options choose, without rules if none was given. Release it in any case. */
CN_CHECK bool cn_view_lens_parse(struct cn_lens *lens, const struct cn_args *args,
                                 struct cn_error *err);

/* Say how much of the whole paths that were chosen or removed leave, and which rules match
 * nothing. `db` is one with the lens. */
void cn_view_lens_tell(const struct cn_args *args, const struct cn_lens *lens,
                       struct cn_database *db);

#endif
