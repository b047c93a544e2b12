/* Code objects of Python, kept while a process is sampled: reading one takes many times as
 * long as looking whether it is still the same.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_PYTHON_CODE_H
#define CN_SAMPLER_LANGUAGES_PYTHON_CODE_H

#include "base/arena.h"
#include "base/map.h"
#include "sampler/languages/python.h"

struct cn_text;

/* Append a string object as UTF-8, of at most `most` characters. False if it is none. */
bool cn_python_text_read(struct cn_memory *memory, const struct cn_python_layout *layout,
                         uint64_t address, size_t most, struct cn_text *out);

/* True if the string object is this one of ASCII. */
bool cn_python_text_is(struct cn_memory *memory, const struct cn_python_layout *layout,
                       uint64_t address, const char *text);

/* A zeroed one is ready for use. */
struct cn_python_codes {
    struct cn_map number_of; /* by address */
    struct cn_python_code *list;
    size_t count, capacity;
    size_t text_len; /* bytes in the arena */
    struct cn_arena arena;
};

void cn_python_codes_done(struct cn_python_codes *codes);

/* The sum of the addresses of its name, file and lines: another object at the same address has
 * another file, as long as modules live. */
uint64_t cn_python_code_sum(const struct cn_python_code *code);

/* The code object at an address, if it was read before and had this sum at a sample; NULL
 * otherwise. */
const struct cn_python_code *cn_python_code_find(const struct cn_python_codes *codes,
                                                 uint64_t address, uint64_t sum);

/* The code object at an address, valid until the next call; NULL if there is none that can
 * be read. */
const struct cn_python_code *cn_python_code_at(struct cn_python_codes *codes,
                                               struct cn_memory *memory,
                                               const struct cn_python_layout *layout,
                                               uint64_t code_type, uint64_t address);

#endif
