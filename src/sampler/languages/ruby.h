/* Frames of Ruby, read from the memory of a process.
 *
 *     ruby = cn_ruby_open(memory, &place, names);
 *     cn_ruby_describe(ruby, &table);                    how they are read at the sample
 *     count = cn_ruby_finish(ruby, sample, chain, count, most);
 *
 * A frame has the instructions of its method (an iseq), or the entry of a method that is written
 * in C. The memory is not trusted: objects are used only if they have the type that they should
 * have, and every loop is bounded.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_RUBY_H
#define CN_SAMPLER_LANGUAGES_RUBY_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "sampler/languages/file.h"
#include "sampler/languages/languages.h"

struct cn_frame_table;

/* Where the name of a class is. */
enum cn_ruby_classes {
    CN_RUBY_CLASS_VARIABLES, /* in a table of the variables of the class, of names and values */
    CN_RUBY_CLASS_UNKNOWN, /* in a list of variables without names */
    CN_RUBY_CLASS_FIELD,   /* after the class itself */
};

/* Offsets that differ between versions. */
struct cn_ruby_layout {
    uint16_t version;   /* 0x301 is 3.1 */
    uint8_t frame_len;  /* of a control frame */
    bool has_short;     /* short strings have their length in the flags */
    bool is_line_plain; /* the first line is no number of the language */
    /* Of the body of an iseq. */
    uint16_t file, base_name, name, first_line, lines, line_count, line_index, local;
    uint8_t line_len;  /* of an entry of a line */
    uint8_t method_id; /* of a definition */
    enum cn_ruby_classes classes;
    uint16_t class_name, class_attached; /* of a class */
    uint32_t singleton;                  /* flag of a class */
    uint16_t vm_thread, thread_state;    /* of the main thread */
};

/* That of a version; NULL if it is not known. */
const struct cn_ruby_layout *cn_ruby_layout_find(uint16_t version);

/* Objects of a process. What was read is in caller's memory; a false result leaves it undefined. */
struct cn_ruby_objects {
    struct cn_memory *memory;
    const struct cn_ruby_layout *layout;
    uint64_t data_begin, data_end; /* where the table of symbols is searched */
    uint64_t symbols;              /* its list; 0: not found yet */
    bool has_no_symbols;
    uint64_t class_id,
        attached_id; /* of variables that every class has; 0: not found yet */
};

enum { CN_RUBY_TEXT_MAX = 1024 };

/* A string, cut after CN_RUBY_TEXT_MAX - 1 bytes. */
bool cn_ruby_text(struct cn_ruby_objects *objects, uint64_t value,
                  char out[CN_RUBY_TEXT_MAX]);

/* The path of a file: a string, or a list of it and its real path. */
bool cn_ruby_path(struct cn_ruby_objects *objects, uint64_t value,
                  char out[CN_RUBY_TEXT_MAX]);

/* The name of an identifier. */
bool cn_ruby_id(struct cn_ruby_objects *objects, uint64_t id, char out[CN_RUBY_TEXT_MAX]);

/* The name of a class with what follows it before the name of a method: "Foo#", of a class method
 * "Foo."; "" for Object, and where it is not known. */
void cn_ruby_class(struct cn_ruby_objects *objects, uint64_t class,
                   char out[CN_RUBY_TEXT_MAX]);

/* The lines of an iseq. */
struct cn_ruby_lines {
    struct cn_bytes entries;
    struct cn_bytes index; /* empty: there is one line */
};

/* Read the lines of the body of an iseq to the arena; empty if that is not possible. */
struct cn_ruby_lines cn_ruby_lines_read(struct cn_ruby_objects *objects, uint64_t body,
                                        struct cn_arena *arena);

/* The line of an instruction, counted in words; 0 if it is not known. */
uint32_t cn_ruby_line(const struct cn_ruby_lines *lines,
                      const struct cn_ruby_layout *layout, uint64_t position);

/* Where the parts of the interpreter are in a process; 0: unknown. */
struct cn_ruby_place {
    struct cn_language_variable state; /* ruby_current_ec */
    uint64_t vm;                       /* ruby_current_vm_ptr */
    uint64_t entry_begin, entry_end;   /* the function that interprets frames */
    uint64_t body_begin, body_end;     /* its loop, if that is a function of its own */
    uint64_t data_begin, data_end;
    char version[16];
};

struct cn_ruby;
struct cn_ruby *cn_ruby_open(struct cn_memory *memory, const struct cn_ruby_place *place,
                             struct cn_stored_names *names);
void cn_ruby_close(struct cn_ruby *ruby); /* NULL is fine */

enum cn_language_table cn_ruby_describe(struct cn_ruby *ruby, struct cn_frame_table *out);

/* Remember a frame of the copy of a stack. */
void cn_ruby_see(struct cn_ruby *ruby, const struct cn_unwind_step *step);

/* Put frames in the place of calls of the function that interprets them. */
size_t cn_ruby_finish(struct cn_ruby *ruby, const struct cn_language_sample *sample,
                      uint64_t *chain, size_t count, size_t most);

/* A version that is not known, as "2.6.1"; NULL if it is known. */
const char *cn_ruby_problem(const struct cn_ruby *ruby);

#endif
