/* V8, the engine of Node, as it is found in the memory of a sampled process.
 *
 * V8 describes its layout in symbols of its own (v8dbg_*), from which a struct cn_v8_layout is
 * filled. Objects may move while they are read: every object is checked by the type of its map
 * before it is used, and what was read once is cached with the words that it was found by.
 *
 *     function = cn_v8_function_of(v8, object);          of a frame, or of inlined code
 *     code = cn_v8_code_at(v8, range_begin, pc);         compiled code, with its positions
 *     cn_v8_undo(v8, step)                               the frames at an instruction
 *
 * A struct cn_v8 owns what it caches; memory and names are borrowed.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LANGUAGES_V8_H
#define CN_SAMPLER_LANGUAGES_V8_H

#include "base/arena.h"
#include "base/map.h"
#include "sampler/languages/languages.h"

enum { CN_V8_UNKNOWN = INT32_MIN };

/* Name, symbol without "v8dbg_" (one that ends in '_' is the beginning of it), and the value of
 * those versions that do not have it: an offset that did not change, or CN_V8_UNKNOWN; those
 * with CN_V8_NEEDED are refused without it. */
#define CN_V8_NEEDED (CN_V8_UNKNOWN + 1)
#define CN_V8_LAYOUT(F)                                                                 \
    F(tagged_len, "TaggedSize", CN_V8_NEEDED)                                           \
    F(smi_shift_len, "SmiShiftSize", CN_V8_NEEDED)                                      \
    F(frame_marker, "off_fp_context_or_frame_type", CN_V8_NEEDED)                       \
    F(frame_function, "off_fp_function", CN_V8_NEEDED)                                  \
    F(frame_bytecodes, "off_fp_bytecode_array", CN_V8_NEEDED)                           \
    F(frame_offset, "off_fp_bytecode_offset", CN_V8_NEEDED)                             \
    F(entry_frame, "frametype_EntryFrame", CN_V8_NEEDED)                                \
    F(construct_entry_frame, "frametype_ConstructEntryFrame", CN_V8_NEEDED)             \
    F(function_register, "JSFunctionRegister", CN_V8_UNKNOWN)                           \
    F(offset_register, "InterpreterBytecodeOffsetRegister", CN_V8_UNKNOWN)              \
    F(map_type, "class_Map__instance_type__", CN_V8_NEEDED)                             \
    F(type_map, "type_Map__MAP_TYPE", CN_V8_NEEDED)                                     \
    F(first_function, "type_JSFunction__JS_FUNCTION_TYPE", CN_V8_NEEDED)                \
    F(last_function, "LastJSFunctionType", CN_V8_UNKNOWN)                               \
    F(function_shared, "class_JSFunction__shared__", CN_V8_NEEDED)                      \
    F(type_shared, "type_SharedFunctionInfo__", CN_V8_NEEDED)                           \
    F(shared_name, "class_SharedFunctionInfo__name_or_scope_info__", CN_V8_NEEDED)      \
    F(shared_script, "class_SharedFunctionInfo__script_", CN_V8_NEEDED)                 \
    F(type_shared_wrapper, "type_SharedFunctionInfoWrapper__", CN_V8_UNKNOWN)           \
    F(wrapper_shared, "class_SharedFunctionInfoWrapper__shared_info__", CN_V8_UNKNOWN)  \
    F(type_scope, "type_ScopeInfo__", CN_V8_NEEDED)                                     \
    F(scope_locals, "scopeinfo_idx_ncontextlocals", CN_V8_NEEDED)                       \
    F(scope_first, "scopeinfo_idx_first_vars", CN_V8_NEEDED)                            \
    F(type_script, "type_Script__SCRIPT_TYPE", CN_V8_NEEDED)                            \
    F(script_source, "class_Script__source__", CN_V8_NEEDED)                            \
    F(script_name, "class_Script__name__", CN_V8_NEEDED)                                \
    F(first_non_string, "FirstNonstringType", CN_V8_NEEDED)                             \
    F(string_kind_mask, "StringRepresentationMask", CN_V8_NEEDED)                       \
    F(string_one_byte, "StringEncodingMask", CN_V8_NEEDED)                              \
    F(string_sequential, "SeqStringTag", CN_V8_NEEDED)                                  \
    F(string_cons, "ConsStringTag", CN_V8_NEEDED)                                       \
    F(string_external, "ExternalStringTag", CN_V8_NEEDED)                               \
    F(string_sliced, "SlicedStringTag", CN_V8_NEEDED)                                   \
    F(string_thin, "ThinStringTag", CN_V8_NEEDED)                                       \
    F(string_len, "class_String__length__", CN_V8_NEEDED)                               \
    F(one_byte_chars, "class_SeqOneByteString__chars__", CN_V8_NEEDED)                  \
    F(two_byte_chars, "class_SeqTwoByteString__chars__", CN_V8_NEEDED)                  \
    F(cons_first, "class_ConsString__first__", CN_V8_NEEDED)                            \
    F(cons_second, "class_ConsString__second__", CN_V8_NEEDED)                          \
    F(sliced_parent, "class_SlicedString__parent__", CN_V8_NEEDED)                      \
    F(sliced_offset, "class_SlicedString__offset__", CN_V8_NEEDED)                      \
    F(thin_actual, "class_ThinString__actual__", CN_V8_NEEDED)                          \
    F(external_resource, "class_ExternalString__resource__", CN_V8_NEEDED)              \
    F(array_len, "class_FixedArrayBase__length__", CN_V8_NEEDED)                        \
    F(array_data, "class_FixedArray__data__", CN_V8_NEEDED)                             \
    F(type_array, "type_FixedArray__", CN_V8_NEEDED)                                    \
    F(type_trusted_array, "type_TrustedFixedArray__", CN_V8_UNKNOWN)                    \
    F(type_protected_array, "type_ProtectedFixedArray__", CN_V8_UNKNOWN)                \
    F(type_weak_array, "type_WeakFixedArray__", CN_V8_NEEDED)                           \
    F(type_trusted_weak_array, "type_TrustedWeakFixedArray__", CN_V8_UNKNOWN)           \
    F(type_protected_weak_array, "type_ProtectedWeakFixedArray__", CN_V8_UNKNOWN)       \
    F(type_bytes, "type_ByteArray__", CN_V8_NEEDED)                                     \
    F(type_trusted_bytes, "type_TrustedByteArray__", CN_V8_UNKNOWN)                     \
    F(type_bytecodes, "type_BytecodeArray__", CN_V8_NEEDED)                             \
    F(bytecodes_data, "class_BytecodeArray__data__", CN_V8_NEEDED)                      \
    F(bytecodes_wrapper, "class_BytecodeArray__wrapper__", CN_V8_UNKNOWN)               \
    F(type_code, "type_Code__CODE_TYPE", CN_V8_NEEDED)                                  \
    F(type_stream, "type_InstructionStream__", CN_V8_UNKNOWN)                           \
    F(stream_start, "class_InstructionStream__instruction_start__", CN_V8_UNKNOWN)      \
    F(code_start, "class_Code__instruction_start__", 40)                                \
    F(code_len, "class_Code__instruction_size__", 56)                                   \
    F(code_flags, "class_Code__flags__", 48)                                            \
    F(deopt_literals, "DeoptimizationDataLiteralArrayIndex", 2)                         \
    F(deopt_shared, "DeoptimizationDataSharedFunctionInfoIndex", 6)                     \
    F(deopt_wrapped, "DeoptimizationDataWrappedSharedFunctionInfoIndex", CN_V8_UNKNOWN) \
    F(deopt_positions, "DeoptimizationDataInliningPositionsIndex", 7)

struct cn_v8_layout {
#define CN_V8_MEMBER(name, symbol, otherwise) int32_t name;
    CN_V8_LAYOUT(CN_V8_MEMBER)
#undef CN_V8_MEMBER
};

/* An entry of a table of source positions: of code or bytecodes from `off` on. */
struct cn_v8_position {
    uint32_t off;
    int32_t source;  /* characters from the beginning of the script; -1: unknown */
    int32_t inlined; /* index of what was inlined; -1: the function itself */
};

struct cn_v8_positions {
    struct cn_v8_position *list;
    size_t count;
};

struct cn_v8_script {
    uint64_t address, name_word, source_word;
    const char *file;
    uint32_t first_line;
    uint32_t *line_ends;
    size_t line_count; /* 0: not known */
};

struct cn_v8_function {
    uint64_t address, name_word, script_word; /* of the SharedFunctionInfo */
    const char *name;
    uint32_t script;    /* UINT32_MAX: none; it is built in, or made by C++ */
    uint32_t line;      /* of the definition; 0: unknown */
    uint64_t bytecodes; /* whose positions these are */
    struct cn_v8_positions positions;
};

/* What was inlined into code, and where. */
struct cn_v8_inlined {
    uint32_t function;       /* UINT32_MAX: could not be read */
    int32_t source, inlined; /* of the call */
};

struct cn_v8_code {
    uint64_t object, words[4]; /* the object that contains it, and how that begins */
    uint64_t begin, end;       /* of the instructions */
    uint32_t function;         /* UINT32_MAX: unknown */
    bool is_regexp;
    struct cn_v8_positions positions;
    struct cn_v8_inlined *inlined;
    size_t inlined_count;
};

enum cn_v8_kind {
    CN_V8_BUILTIN,
    CN_V8_HANDLER, /* of a bytecode: part of the function that is interpreted */
    CN_V8_COMPILED,
    CN_V8_NATIVE, /* not code of V8 */
};

struct cn_v8_builtin {
    uint64_t begin;
    enum cn_v8_kind kind;
};

/* Executable memory of the process. */
struct cn_v8_range {
    uint64_t begin, end;
    enum cn_v8_kind kind;
    uint64_t shift; /* of a copy of the built-ins, to these */
};

enum { CN_V8_MISSED = 64, CN_V8_POSITIONS_MAX = 1 << 22 };

/* Where code was searched in vain, and when. */
struct cn_v8_missed {
    uint64_t number, round;
};

struct cn_v8 {
    struct cn_memory *memory;
    struct cn_stored_names *names;
    struct cn_v8_layout layout;
    struct cn_v8_builtin *builtins; /* sorted by address */
    size_t builtin_count, builtin_capacity;
    uint64_t builtins_begin, builtins_end;
    struct cn_v8_range *ranges;
    size_t range_count, range_capacity;
    uint64_t stream_map; /* the map of objects that contain code; 0: not seen yet */
    struct cn_map function_of, script_of; /* by address */
    struct cn_map last_of; /* functions by their object, which may be elsewhere now */
    struct cn_v8_function *functions;
    size_t function_count, function_capacity;
    struct cn_v8_script *scripts;
    size_t script_count, script_capacity;
    struct cn_v8_code *codes; /* sorted by address */
    size_t code_count, code_capacity;
    struct cn_v8_missed missed[CN_V8_MISSED];
    uint64_t search_round; /* of the searches that are counted */
    unsigned search_count;
    size_t source_left;    /* bytes of sources that may still be read */
    size_t position_count; /* positions and inlined calls that are cached */
    struct cn_arena arena;
};

/* Ready for use when the layout, built-ins and ranges are filled. */
void cn_v8_begin(struct cn_v8 *v8, struct cn_memory *memory,
                 struct cn_stored_names *names);
void cn_v8_done(struct cn_v8 *v8);

/* Put a value of a v8dbg symbol into the layout, which begins as CN_V8_UNKNOWN. */
void cn_v8_layout_begin(struct cn_v8_layout *layout);
bool cn_v8_layout_has(const char *symbol);
void cn_v8_layout_set(struct cn_v8_layout *layout, const char *symbol, int32_t value);

/* Fill in what a version does not have; false if that can not be. */
bool cn_v8_layout_end(struct cn_v8_layout *layout);

/* The type of a tagged object. */
bool cn_v8_type(struct cn_v8 *v8, uint64_t object, int32_t *out);

/* A field of a tagged object whose type was checked. */
bool cn_v8_field(struct cn_v8 *v8, uint64_t object, int32_t off, uint64_t *out);

/* The function of a JSFunction, or of a SharedFunctionInfo; UINT32_MAX if it is neither. */
uint32_t cn_v8_function_of(struct cn_v8 *v8, uint64_t object);
uint32_t cn_v8_shared_of(struct cn_v8 *v8, uint64_t shared);

/* Is memory that could not be read not there any more? Else it may not be read for this sample. */
static inline bool cn_v8_is_gone(const struct cn_v8 *v8)
{
    return v8->memory->left >= CN_MEMORY_BLOCK_LEN;
}

/* The positions in a tagged array of bytes; empty if it is none. */
void cn_v8_positions_read(struct cn_v8 *v8, uint64_t bytes, struct cn_v8_positions *out);
void cn_v8_positions_free(struct cn_v8 *v8, struct cn_v8_positions *positions);

/* The last entry at or before an offset; NULL: there is none. */
const struct cn_v8_position *cn_v8_position_at(const struct cn_v8_positions *positions,
                                               uint64_t off);

/* The line of a position in the script of a function; 0: unknown. */
uint32_t cn_v8_line(const struct cn_v8 *v8, const struct cn_v8_function *function,
                    int32_t source);

/* The compiled code at an address of memory that begins at `lowest`; NULL if it is not found.
 * Valid until the next call. */
struct cn_v8_code *cn_v8_code_at(struct cn_v8 *v8, uint64_t lowest, uint64_t address);

/* The frames at an instruction of V8; a cn_unwind_foreign. */
bool cn_v8_undo(struct cn_v8 *v8, struct cn_unwind_step *step);

#endif
