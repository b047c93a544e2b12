/* The machine code of a function with the self cost of each instruction, and its source lines.
 *
 * The binary is read from this machine. If its build id was recorded, another build is refused;
 * source files are those of its debug information.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_ANNOTATION_H
#define CN_ANALYZE_VIEWS_ANNOTATION_H

#include "analyze/views/costs.h"
#include "symbols/program/assembly.h"

struct cn_annotation {
    struct cn_resolver *resolver;
    struct cn_assembly assembly;
    const char *module;   /* path, borrowed from the database */
    const char *build_id; /* NULL: not recorded, so the binary may be another build */
    double *costs;        /* by instruction; 0: none */
    const char **sources; /* text of its source line, by instruction; NULL: unknown */
    double self;    /* of the function: the sum over instructions that are not inlined */
    double inlined; /* of functions inlined there */
    struct cn_arena arena;
};

/* The function around a context that is not inlined: it has code of its own. `node` is one of the
 * index. */
CN_CHECK bool cn_annotation_function(struct cn_database *db,
                                     const struct cn_context_index *index, uint32_t node,
                                     uint32_t *out, struct cn_error *err);

/* The first column of a self cost. */
CN_CHECK bool cn_annotation_column(const struct cn_costs *costs, size_t *out,
                                   struct cn_error *err);

/* CN_ERR_NOT_FOUND, with the reason, if costs or code are unknown. Release it in any case. */
CN_CHECK bool cn_annotation_open(struct cn_annotation *annotation, struct cn_costs *costs,
                                 const struct cn_context_index *index, size_t column,
                                 uint32_t function, struct cn_error *err);
void cn_annotation_close(struct cn_annotation *annotation);

/* True if the source line of an instruction is not that of the one before. */
static inline bool cn_annotation_begins_line(const struct cn_assembly *assembly, size_t i)
{
    const struct cn_assembly_line *line = &assembly->list[i];

    return line->file &&
           (i == 0 || line[-1].file != line->file || line[-1].line != line->line);
}

#endif
