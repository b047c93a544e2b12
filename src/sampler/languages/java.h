/* The Java virtual machine HotSpot, as it describes itself.
 *
 * libjvm.so exports tables of its structures with the offsets of their fields (vmStructs), so
 * that no layout is written down here. What they do not contain is: frames on the stack, the
 * compressed numbers of debug information, the table of lines.
 *
 *     cn_java_vm_read()       the tables, once
 *     cn_java_code_find()     the compiled method or stub of an address
 *     cn_java_code_scopes()   the methods that are inlined there
 *     cn_java_method_find()   names and lines of a method
 *     cn_java_compiled_find() the method that a thread compiles
 *
 * Everything is read from a process that may lie, be about to end, or change it meanwhile.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_JAVA_H
#define CN_SAMPLER_LANGUAGES_JAVA_H

#include "base/arena.h"
#include "base/map.h"
#include "sampler/languages/file.h"
#include "sampler/languages/languages.h"

#define CN_JAVA_ABSENT UINT64_MAX

/* Offsets of fields, addresses of static ones, sizes and constants; CN_JAVA_ABSENT where this
 * version has none. */
enum cn_java_field {
    CN_JAVA_CODE_HEAPS,
    CN_JAVA_CODE_HEAP, /* one, up to Java 8 */
    CN_JAVA_INTERPRETER,
    CN_JAVA_CALL_STUB_RETURN,
    CN_JAVA_MAJOR_VERSION,
    CN_JAVA_RELEASE,
    CN_JAVA_ARRAY_LEN,
    CN_JAVA_ARRAY_DATA,
    CN_JAVA_HEAP_MEMORY,
    CN_JAVA_HEAP_SEGMENTS,
    CN_JAVA_HEAP_LOG2,
    CN_JAVA_SPACE_LOW,
    CN_JAVA_SPACE_HIGH,
    CN_JAVA_BLOCK_USED,
    CN_JAVA_BLOCK_SIZE,
    CN_JAVA_QUEUE_BUFFER,
    CN_JAVA_QUEUE_LIMIT,
    CN_JAVA_BLOB_NAME,
    CN_JAVA_BLOB_SIZE,
    CN_JAVA_BLOB_COMPLETE,
    CN_JAVA_BLOB_FRAME,
    CN_JAVA_BLOB_CODE_BEGIN, /* an address; else there is an offset */
    CN_JAVA_BLOB_CODE_END,
    CN_JAVA_BLOB_CODE_OFF,
    CN_JAVA_BLOB_DATA_OFF,
    CN_JAVA_BLOB_MUTABLE, /* since 25: where relocations and metadata are */
    CN_JAVA_BLOB_MUTABLE_LEN,
    CN_JAVA_BLOB_RELOCATION_LEN,
    CN_JAVA_COMPILED_METHOD,
    CN_JAVA_COMPILED_ID,
    CN_JAVA_COMPILED_SCOPES, /* an address; else there is an offset */
    CN_JAVA_COMPILED_SCOPES_OFF,
    CN_JAVA_COMPILED_PCS_OFF,
    CN_JAVA_COMPILED_PCS_END_OFF,
    CN_JAVA_COMPILED_METADATA_OFF,
    CN_JAVA_COMPILED_IMMUTABLE, /* since 23: where scopes are */
    CN_JAVA_COMPILED_IMMUTABLE_LEN,
    CN_JAVA_COMPILED_DEOPT, /* an address; else there is an offset */
    CN_JAVA_COMPILED_DEOPT_OFF,
    CN_JAVA_COMPILED_ORIGINAL_OFF,
    CN_JAVA_COMPILED_ENTRY, /* an address; else there is an offset */
    CN_JAVA_COMPILED_ENTRY_OFF,
    CN_JAVA_PC_OFF,
    CN_JAVA_PC_SCOPE,
    CN_JAVA_PC_SIZE,
    CN_JAVA_METHOD_CONST,
    CN_JAVA_CONST_POOL,
    CN_JAVA_CONST_FLAGS,
    CN_JAVA_CONST_CODE_LEN,
    CN_JAVA_CONST_NAME,
    CN_JAVA_CONST_SIZE,
    CN_JAVA_CONST_HAS_LINES,
    CN_JAVA_POOL_HOLDER,
    CN_JAVA_POOL_LENGTH,
    CN_JAVA_POOL_FILE,
    CN_JAVA_POOL_SIZE,
    CN_JAVA_CLASS_FILE, /* where the pool does not have it */
    CN_JAVA_CLASS_NAME,
    CN_JAVA_SYMBOL_LEN,
    CN_JAVA_SYMBOL_BODY,
    CN_JAVA_THREAD_COMPILATION, /* of a compiler: what it compiles, on its stack */
    CN_JAVA_THREAD_STACK_END,
    CN_JAVA_THREAD_STACK_LEN,
    CN_JAVA_COMPILATION_TASK,
    CN_JAVA_TASK_METHOD,
    CN_JAVA_FIELDS,
};

enum {
    CN_JAVA_HEAPS_MAX = 8,
    CN_JAVA_FRAMES_MAX = 64,
    CN_JAVA_STACK_MAX = 512,       /* frames of a compiler that are remembered */
    CN_JAVA_NUMBER_MAX = 5,        /* bytes of a compressed number */
    CN_JAVA_NUMBER_FOLLOWED = 192, /* from here on a byte is followed by another one */
};

enum cn_java_state {
    CN_JAVA_NOT_READY, /* it has not initialised itself */
    CN_JAVA_READY,
    CN_JAVA_UNKNOWN, /* a version that does not describe what is needed */
};

/* Memory with code. */
struct cn_java_heap {
    uint64_t low, high;
    uint64_t segments; /* the map of segments */
    unsigned log2;     /* of the length of a segment */
};

struct cn_java_vm {
    struct cn_memory *memory;
    enum cn_java_state state;
    uint64_t symbols[32]; /* addresses of the tables */
    uint64_t at[CN_JAVA_FIELDS];
    uint32_t major;          /* version; 8 for all up to 8 */
    bool has_short_complete; /* CN_JAVA_BLOB_COMPLETE has 16 bits */
    char release[32];        /* of an unknown one; "" if it does not tell */
    struct cn_java_heap heaps[CN_JAVA_HEAPS_MAX];
    size_t heap_count;
    uint64_t low, high; /* of all heaps */
    uint64_t interpreter, interpreter_end;
    uint64_t call_stub_return;
};

/* Does this version have it? */
static inline bool cn_java_has(const struct cn_java_vm *vm, enum cn_java_field field)
{
    return vm->at[field] != CN_JAVA_ABSENT;
}

/* Find the tables in the file. */
void cn_java_vm_find(struct cn_java_vm *vm, const struct cn_language_mapping *mapping);

/* Read the tables, and then where the code is; `state` says how far that is. */
void cn_java_vm_read(struct cn_java_vm *vm);

/* Read how far heaps and interpreter extend now. */
bool cn_java_vm_read_heaps(struct cn_java_vm *vm);

enum cn_java_kind {
    CN_JAVA_COMPILED,
    CN_JAVA_NATIVE, /* calls a function in C */
    CN_JAVA_STUB,
};

/* A compiled method or a stub, with all of its bytes. */
struct cn_java_code {
    uint64_t address; /* of the CodeBlob */
    uint64_t begin, end;
    uint64_t method;
    uint64_t name; /* address of its text */
    uint64_t deopt;
    uint64_t entry;       /* 0 if it is unknown */
    uint64_t frame_len;   /* bytes; 0: it varies */
    int64_t complete_len; /* the frame is complete there; negative: nothing is known */
    uint64_t
        original_off; /* on the stack: the address that deoptimisation has replaced */
    uint32_t id;      /* of the compilation */
    uint32_t number;  /* another one for each that is found */
    enum cn_java_kind kind;
    const char *stub_name;
    struct cn_bytes image; /* from `address` on */
    uint8_t *bytes;        /* of it, owned */
    struct cn_bytes debug; /* where offsets of scopes count from: the image, or its own */
    struct cn_bytes methods; /* that scopes name, by number: 8 bytes each */
    uint8_t *others;         /* bytes of these two that are not of the image, owned */
    uint64_t checked_ns;
};

struct cn_java_codes {
    struct cn_java_code *list;
    size_t count, capacity;
    struct cn_map number_of; /* by address of the CodeBlob */
    struct cn_map code_of;   /* by program counter */
    struct cn_arena arena;
    size_t image_len; /* of all images */
    uint32_t next_number;
};

/* The code at an address; NULL if it is unknown. Valid until the next call. */
const struct cn_java_code *cn_java_code_find(struct cn_java_codes *codes,
                                             struct cn_java_vm *vm, uint64_t pc,
                                             uint64_t now_ns);
void cn_java_codes_done(struct cn_java_codes *codes);

/* A method that is active in a frame. */
struct cn_java_scope {
    uint64_t method;
    int32_t bci; /* negative: unknown */
};

/* The methods that are active at an address, the innermost first. Returns their number. */
size_t cn_java_code_scopes(const struct cn_java_vm *vm, const struct cn_java_code *code,
                           uint64_t pc, struct cn_java_scope out[CN_JAVA_FRAMES_MAX]);

/* A compressed number of 1 to 5 bytes. */
bool cn_java_number_take(const struct cn_java_vm *vm, struct cn_bytes *rest,
                         uint32_t *out);

struct cn_java_method {
    uint64_t address, constants; /* of Method and ConstMethod */
    uint64_t code;               /* its bytecode */
    uint32_t code_len;
    uint32_t first_line;
    const char *function, *file;
    struct cn_bytes lines; /* compressed */
};

struct cn_java_methods {
    struct cn_java_method *list;
    size_t count, capacity;
    struct cn_map number_of; /* by address */
    struct cn_arena arena;
};

/* A method by its address; NULL if it is none. Valid until the next call. */
const struct cn_java_method *cn_java_method_find(struct cn_java_methods *methods,
                                                 struct cn_java_vm *vm, uint64_t address);
void cn_java_methods_done(struct cn_java_methods *methods);

/* What the compilers of the virtual machine compile. It is read at the sample, as it is another
 * method a moment later; its place in the stack is below the function that has it on the stack. */
struct cn_java_compilers {
    struct cn_language_variable thread; /* points to the state of each thread */
    uint64_t sps[CN_JAVA_STACK_MAX]; /* of the frames of a sample, the innermost first */
    size_t count;
};

void cn_java_compilers_find(struct cn_java_compilers *compilers,
                            const struct cn_language_mapping *mapping);
enum cn_language_table
cn_java_compilers_describe(const struct cn_java_compilers *compilers,
                           const struct cn_java_vm *vm, struct cn_frame_table *out);

/* Remember a frame of the copy of a stack. */
void cn_java_compilers_see(struct cn_java_compilers *compilers,
                           const struct cn_unwind_step *step);

/* The address of the method that a thread compiled at the sample, and the index in its stack of the
 * function that asked for it. False if it compiled none. */
bool cn_java_compiled_find(const struct cn_java_compilers *compilers,
                           const struct cn_language_sample *sample, const uint64_t *chain,
                           size_t count, uint64_t *method, size_t *at);

/* The line of a bytecode; 0 if it is unknown. */
uint32_t cn_java_method_line(const struct cn_java_vm *vm,
                             const struct cn_java_method *method, int32_t bci);

#endif
