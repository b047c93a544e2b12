/* Metric taxonomies in YAML: metrics/default.yaml and the files next to it.
 *
 * Read one file with cn_hpc_metrics_yaml_read(), add further ones with
 * cn_hpc_metrics_yaml_append(), write with cn_hpc_metrics_yaml_write(). Results live in the
 * caller's arena; none refers to the text.
 *
 * Files are hostile: nesting, nodes and the work of following aliases are limited. Unknown
 * keys are ignored; an unknown operator fails with its line and column.
 * Threads: any thread, each with an arena of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_METRICS_YAML_H
#define CN_FORMATS_HPCTOOLKIT_METRICS_YAML_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "model/contexts/taxonomy.h"

/* On failure *out is untouched; the arena may have grown. */
CN_CHECK bool cn_hpc_metrics_yaml_read(struct cn_bytes text, struct cn_taxonomy *out,
                                       struct cn_arena *arena, struct cn_error *err);

/* Append the roots of another file, and the inputs that the taxonomy lacks. A failure
 * leaves the taxonomy unchanged. */
CN_CHECK bool cn_hpc_metrics_yaml_append(struct cn_bytes text,
                                         struct cn_taxonomy *taxonomy,
                                         struct cn_arena *arena, struct cn_error *err);

/* Append the taxonomy as a complete file, in the style of hpcprof. */
void cn_hpc_metrics_yaml_write(const struct cn_taxonomy *taxonomy, struct cn_text *out);

#endif
