/* What early formats leave open: scopes have nothing but names, contexts no masks.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SCOPES_H
#define CN_FORMATS_HPCTOOLKIT_SCOPES_H

#include "model/contexts/context.h"
#include "model/contexts/metric.h"

/* The mask of a context that belongs to the same function as its parent: the bit that the
 * scope "function" follows. */
enum { CN_HPC_FUNCTION_BIT = 0, CN_HPC_LEXICAL_MASK = 1 << CN_HPC_FUNCTION_BIT };

/* The scope of this name; borrows the name. */
struct cn_scope cn_hpc_scope_of(const char *name);

/* Kinds of later versions must not look like entry points, which only the model has. */
static inline uint8_t cn_hpc_known_kind(uint8_t kind)
{
    return kind < CN_CONTEXT_ENTRY ? kind : UINT8_MAX;
}

#endif
