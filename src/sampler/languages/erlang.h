/* Functions of Erlang, read from the memory of a process.
 *
 *     erlang = cn_erlang_open(memory, descriptor, names);   then by cn_language_erlang
 *
 * The memory is not trusted: blocks of modules are parsed within their lengths, few are read for one
 * sample, and what all of them take is limited.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_ERLANG_H
#define CN_SAMPLER_LANGUAGES_ERLANG_H

#include "sampler/languages/languages.h"

/* `descriptor` is the address of what it tells debuggers; 0: it tells nothing. `memory` and `names` are
 * borrowed. cn_language_erlang.close() frees it. */
struct cn_erlang;
struct cn_erlang *cn_erlang_open(struct cn_memory *memory, uint64_t descriptor,
                                 struct cn_stored_names *names);

#endif
