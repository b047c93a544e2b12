/* What the file of a mapping says about a run-time: symbols, constants, thread variables.
 *
 * The file is opened for each question, and is not trusted.
 * Threads: any thread.
 */
#ifndef CN_SAMPLER_LANGUAGES_FILE_H
#define CN_SAMPLER_LANGUAGES_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_frame_table;
struct cn_language_mapping;
struct cn_memory;

/* See each symbol of a mapped file with its address; those in two tables twice. */
typedef void (*cn_language_symbol_visit)(void *arg, const char *name, uint64_t address,
                                         uint64_t len);
void cn_language_symbols_visit(const struct cn_language_mapping *mapping,
                               cn_language_symbol_visit visit, void *arg);

/* The addresses of symbols of a mapped file, 0 for those that it does not have. */
void cn_language_symbols(const struct cn_language_mapping *mapping,
                         const char *const *names, size_t count, uint64_t *out);

/* The same, and the bytes that each has. */
void cn_language_symbols_sized(const struct cn_language_mapping *mapping,
                               const char *const *names, size_t count, uint64_t *out,
                               uint64_t *lens);

/* Bytes at an address as the file has them. */
bool cn_language_constant(const struct cn_language_mapping *mapping, uint64_t address,
                          void *out, size_t len);

/* The first string in the constants of a file that begins with `prefix`. */
bool cn_language_text_find(const struct cn_language_mapping *mapping, const char *prefix,
                           char *out, size_t size);

/* The first bytes of a section, found by its name. */
bool cn_language_section(const struct cn_language_mapping *mapping, const char *name,
                         void *out, size_t len);

/* What is added to addresses of the file to get those of the process. */
bool cn_language_bias(const struct cn_language_mapping *mapping, uint64_t *out);

/* Where the last variable of the threads of a program is, of 8 bytes, after the thread pointer: that
 * of Go, which is right before it if there are no others. */
uint64_t cn_language_last_variable(const struct cn_language_mapping *mapping);

/* Memory of the process that the file says is for data that change. */
bool cn_language_data(const struct cn_language_mapping *mapping, uint64_t *begin,
                      uint64_t *end);

/* The largest function that the code from `begin` to `end` calls directly, by the bounds of the
 * tables for unwinding: a part of it that has no symbol. False if there is none as large. */
bool cn_language_callee(const struct cn_language_mapping *mapping, uint64_t begin,
                        uint64_t end, uint64_t *callee_begin, uint64_t *callee_end);

/* A variable that each thread has. */
enum cn_language_variable_kind {
    CN_VARIABLE_NONE,
    CN_VARIABLE_FIXED,      /* `off` after the thread pointer */
    CN_VARIABLE_OFFSET,     /* the loader writes how far to `slot` */
    CN_VARIABLE_MODULE,     /* the loader writes number and offset in a module there */
    CN_VARIABLE_DESCRIPTOR, /* either, after a function */
};

enum { CN_VARIABLE_MODULES_MAX = 4096 };

struct cn_language_variable {
    enum cn_language_variable_kind kind;
    uint64_t slot, off;
};

bool cn_language_variable_find(const struct cn_language_mapping *mapping,
                               const char *name, struct cn_language_variable *out);

/* Let a walk begin at what a variable points to. False while the loader has not said where that
 * is. */
bool cn_language_variable_locate(const struct cn_language_variable *variable,
                                 struct cn_memory *memory, struct cn_frame_table *table);

#endif
