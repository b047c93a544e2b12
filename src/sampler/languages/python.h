/* Frames of the Python interpreter (CPython 3.9 to 3.14), read from the memory of a process.
 *
 *     python = cn_python_open(memory, &place, names);
 *     count = cn_python_walk(python, tid, frames, most);
 *     count = cn_python_merge(python, frames, frame_count, chain, chain_len, most, is_whole,
 *                             is_late);
 *
 * The memory is not trusted: offsets are those of the version or those that the interpreter
 * describes (3.13 and later), every object is checked to be of the type that it should be,
 * and every loop is bounded.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_PYTHON_H
#define CN_SAMPLER_LANGUAGES_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "sampler/languages/memory.h"

struct cn_stored_names;
struct cn_unwind_step;
struct cn_frames_found;

enum { CN_PYTHON_FRAMES_MAX = 1024 };

/* How lines are found by instructions. */
enum cn_python_lines {
    CN_PYTHON_LNOTAB,    /* 3.9: pairs of bytes */
    CN_PYTHON_LINES,     /* 3.10: pairs of bytes, some of code without a line */
    CN_PYTHON_LOCATIONS, /* from 3.11 on: entries of 1 to 8 instructions */
};

/* How the frames of one call of the function that interprets them are told from those of
 * its caller. */
enum cn_python_entry {
    CN_PYTHON_ENTRY_EACH, /* to 3.10: each has its own */
    CN_PYTHON_ENTRY_FLAG, /* 3.11: the first has a flag */
    CN_PYTHON_ENTRY_SHIM, /* from 3.12 on: a frame without code before the first */
};

/* Offsets of what is read. */
struct cn_python_layout {
    uint16_t version; /* 0x30b is 3.11 */
    enum cn_python_lines lines;
    enum cn_python_entry entry;
    bool has_cframe; /* the frame is found through a structure on the stack */
    bool
        is_free_threaded; /* without the global lock: threads may run copies of instructions */
    uint32_t runtime_interpreters; /* the first one */
    uint32_t interpreter_next, interpreter_threads, interpreter_modules;
    uint32_t thread_next, thread_interpreter, thread_frame, thread_id;
    uint32_t thread_native_id; /* 0: none */
    uint32_t cframe_frame;
    uint32_t frame_previous, frame_code, frame_instruction;
    uint32_t frame_entry;     /* the flag, or the owner */
    uint32_t generator_frame; /* a generator contains its frame; 0: the frame has, at */
    uint32_t frame_generator; /* this offset, its generator, if it is of one */
    uint32_t task_coroutine, task_name; /* of asyncio; 0: not known */
    uint32_t code_first_line, code_file, code_name, code_lines;
    uint32_t code_instructions; /* 0: they are in an object of their own, and frames have
                                 * numbers of them, not addresses */
    uint32_t code_bytes;        /* that object */
    uint32_t object_type;
    uint32_t text_len, text_state, text_ascii,
        text_other;     /* the last two: of characters */
    uint32_t text_kind; /* bit of the state */
    uint32_t bytes_len, bytes_data;
};

/* Those of a version that does not describe itself; NULL if it is not known. */
const struct cn_python_layout *cn_python_layout_find(uint16_t version);

/* What the interpreter says about itself at the beginning of its state. False if it says
 * nothing, or nothing that can be. */
bool cn_python_layout_read(struct cn_python_layout *out, struct cn_memory *memory,
                           uint64_t runtime);

/* What a code object says about the function that it is of. */
struct cn_python_code {
    uint64_t address;
    uint64_t key[4]; /* another object has others at the same address */
    const char *function, *file;
    uint32_t first_line;
    struct cn_bytes lines;
    uint64_t begin, end; /* of its instructions */
    bool is_partial;     /* its lines were not copied */
};

/* The bytes of instructions that a table of lines describes. */
uint64_t cn_python_lines_len(struct cn_bytes lines);

/* The line of an instruction, counted in bytes from the beginning; 0 if it has none. */
uint32_t cn_python_line(const struct cn_python_code *code, enum cn_python_lines format,
                        int64_t instruction);

/* Where the parts of the interpreter are in a process; 0: unknown. */
struct cn_python_place {
    uint64_t runtime;              /* _PyRuntime */
    uint64_t code_type;            /* PyCode_Type */
    uint64_t version;              /* Py_Version */
    uint64_t eval_begin, eval_end; /* the function that interprets frames */
    uint16_t path_version;         /* by the name of the file */
};

/* A task of asyncio. */
struct cn_python_task {
    uint64_t at, coroutine;
    uint64_t len, first, last; /* of its name: characters at the begin and the end */
};

struct cn_python_frame {
    uint64_t code;
    uint64_t instruction; /* address or number, as the layout says */
    uint64_t sum;         /* cn_python_code_sum() of the code; 0: not known */
    bool is_first;        /* of the call that interprets it: its caller is native */
    /* If it has an address, not a frame, but what runs the frame before it, whose code it has. */
    struct cn_python_task task;
};

struct cn_python;
struct cn_python *cn_python_open(struct cn_memory *memory,
                                 const struct cn_python_place *place,
                                 struct cn_stored_names *names);
void cn_python_close(struct cn_python *python); /* NULL is fine */

/* Remember a frame of the copy of a stack, if it is of the function that interprets: what it
 * holds of instructions shows which code was run. */
void cn_python_see(struct cn_python *python, const struct cn_unwind_step *step);

/* The frames of what was read at a sample (frame_walk.h), when the layout is known. Returns how many there are. */
size_t cn_python_decode(struct cn_python *python, const struct cn_frames_found *found,
                        const uint64_t *words, struct cn_python_frame *frames,
                        size_t most);

/* The frames of a thread at this moment, the innermost first. */
size_t cn_python_walk(struct cn_python *python, uint32_t tid,
                      struct cn_python_frame *frames, size_t most);

/* Put frames in the place of addresses of the function that interprets them: each stands for
 * the frames up to the next that is first. Nothing changes where the two contradict each
 * other. Frames that were read later than the stack was copied (`is_late`) are used only where
 * that holds an instruction of the innermost of them, and of those of the calls around it. Returns the number of addresses. */
size_t cn_python_merge(struct cn_python *python, const struct cn_python_frame *frames,
                       size_t frame_count, uint64_t *chain, size_t chain_len, size_t most,
                       bool is_whole, bool is_late);

/* A version that is not known, as "3.8"; NULL if there is none. */
const char *cn_python_problem(const struct cn_python *python);

#endif
