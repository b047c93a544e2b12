/* The documents of a database. Layouts are printed from the tables of format.h, so that the
 * text cannot disagree with the files. */
#include "formats/hpctoolkit/v4/write/writing.h"

#include <inttypes.h>

#include "base/files/blocks.h"
#include "base/text.h"
#include "formats/hpctoolkit/v4/format.h"
#include "formats/hpctoolkit/v4/latency_format.h"
#include "formats/hpctoolkit/v4/states_format.h"

/* A paragraph (lines, ended by NULL) and the layout it introduces, or NULL. */
struct passage {
    const char *const *lines;
    const struct cn_record_layout *layout;
};

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct passage common[] = {
    {LINES(
         "# An HPCToolkit database, version 4.0", "",
         "    meta.db               what was measured, and the tree of calling contexts",
         "    profile.db            values by thread",
         "    cct.db                the same values by context",
         "    trace.db              what each thread did when (absent without timelines)",
         "    latency.db            calls by duration (absent unless made from calls)",
         "    states.db             when each thread ran and waited (absent if unknown)",
         "    origin.txt            what was run, where and how (absent if unknown)",
         "    metrics/default.yaml  how to present the metrics; see METRICS.yaml.ex "
         "there",
         "    src/                  copies of source files, where there are any", "",
         "It opens in cairn, hpcviewer and Hatchet. This file tells how to decode it",
         "with anything else.", "", "## Every `.db` file", "",
         "Integers are little endian, `f64` is IEEE 754. Offsets (`..._off`) count bytes",
         "from the start of the file, `..._len` is a size in bytes, `..._count` a number",
         "of elements. Strings are UTF-8, ended by a zero byte. Bytes that no table "
         "names",
         "are reserved: zero when written, ignored when read. Arrays are stepped by the",
         "record size that the file declares (`metric_len`, `profile_len`, ...): a later",
         "minor version may append fields to a record.", "",
         "A file begins with `HPCTOOLKIT`, four characters that name its format, two",
         "version bytes, and then one entry for each of its sections. It ends with eight",
         "characters of its own; a file without them is incomplete.", "",
         "| file | format | sections, in this order | end |", "| --- | --- | --- | --- |",
         "| meta.db | `meta` | General, IdNames, Metrics, Context, Strings, Modules, "
         "Files, Functions | `_meta.db` |",
         "| profile.db | `prof` | ProfileInfos, IdTuples | `_prof.db` |",
         "| cct.db | `ctxt` | CtxInfos | `__ctx.db` |",
         "| trace.db | `trce` | CtxTraces | `trace.db` |"),
     &cn_hpc_file_header_layout},
    {LINES("A section entry:"), &cn_hpc_section_layout},
};

static const struct passage meta[] = {
    {LINES("## meta.db", "", "General:"), &cn_hpc_general_header_layout},
    {LINES("IdNames lists what the numbers in a thread's identity stand for: name `k` is",
           "that of kind `k`."),
     &cn_hpc_id_names_header_layout},
    {LINES(
         "Metrics. A value that was measured at a context is propagated upwards; a scope",
         "says how far. `point`: not at all. `execution`: to all ancestors, which gives",
         "inclusive cost. `function`, the transitive scope: from a context to its parent",
         "while the scope's bit of the context's propagation mask is set, that is, up to",
         "the enclosing function. `lex_aware`: like `function`, but a loop does not "
         "count",
         "the loops nested in it."),
     &cn_hpc_metrics_header_layout},
    {LINES("A scope:"), &cn_hpc_scope_layout},
    {LINES("A metric, its values in one scope, and one statistic over threads. The "
           "metric id",
           "of a value is a `prop_id` in the profile of a thread and in cct.db, and a",
           "`stat_id` in a summary profile. The two number spaces overlap. A statistic",
           "applies its formula (`$$` stands for the value) to the value of each thread",
           "and combines the results."),
     &cn_hpc_metric_layout},
    {LINES("A scope instance:"), &cn_hpc_scope_instance_layout},
    {LINES("A statistic:"), &cn_hpc_statistic_layout},
    {LINES(
         "Modules, Files and Functions each start with this header; their strings are in",
         "Strings."),
     &cn_hpc_table_header_layout},
    {LINES("A module:"), &cn_hpc_module_layout},
    {LINES("A file:"), &cn_hpc_source_file_layout},
    {LINES("A function. Its name is empty when it has none."), &cn_hpc_function_layout},
    {LINES(
         "Context is a tree. On top are entry points, the ways in which the operating",
         "system entered the program; below them functions, loops, lines, instructions.",
         "Ids are unique and greater than 0; 0 is the global context above all entry",
         "points, which has values but no record. Values may name ids that have no "
         "record",
         "either: instructions that were left out of the tree."),
     &cn_hpc_contexts_header_layout},
    {LINES("An entry point:"), &cn_hpc_entry_layout},
    {LINES(
         "A context. It is followed by `flex_count` words of 8 bytes which hold, in this",
         "order and as far as `flags` says so: the offset of its function; the offset of",
         "its file, and its line; the offset of its module, and its address there. "
         "Siblings",
         "follow each other directly."),
     &cn_hpc_context_layout},
};

static const struct passage values[] = {
    {LINES("## profile.db", "",
           "ProfileInfos. Profile 0 is the summary over all threads."),
     &cn_hpc_profiles_header_layout},
    {LINES("A profile:"), &cn_hpc_profile_layout},
    {LINES("Its values are sorted by context and, for each context, by metric. Zeros are",
           "left out."),
     &cn_hpc_profile_value_layout},
    {LINES("The index says where the values of a context start; they end where those of "
           "the",
           "next one start, the last ones with the array. Contexts are in ascending "
           "order."),
     &cn_hpc_profile_index_layout},
    {LINES("IdTuples. A tuple is followed by its ids, from the largest unit (a node) to "
           "the",
           "smallest (a thread)."),
     &cn_hpc_tuple_layout},
    {LINES("An id:"), &cn_hpc_identity_layout},
    {LINES("## cct.db", "",
           "CtxInfos. The values of all threads again, without the summary."),
     &cn_hpc_context_infos_header_layout},
    {LINES("Record `i` belongs to context `i`:"), &cn_hpc_context_info_layout},
    {LINES("Its values are sorted by metric and, for each metric, by profile."),
     &cn_hpc_context_value_layout},
    {LINES("The index says where the values of a metric start, as above."),
     &cn_hpc_context_index_layout},
    {LINES("## trace.db", "",
           "CtxTraces. Record `i` belongs to profile `i + 1`; begin and end",
           "are equal when it has no samples."),
     &cn_hpc_traces_header_layout},
    {LINES("A trace:"), &cn_hpc_trace_layout},
    {LINES("Its samples are in the order of time. Each says where the thread is from "
           "then on."),
     &cn_hpc_sample_layout},
};

static const struct passage latency[] = {
    {LINES("## latency.db", "",
           "Not a file of HPCToolkit: its readers ignore it. It is made of blocks of",
           "`block_len` bytes with a checksum (CRC-32C) each, and has three sections:",
           "buckets of durations (1), profiles (2) and planes (3)."),
     &cn_block_file_header_layout},
    {LINES("The end of the file tells where the checksums are, 4 bytes each, and after "
           "them",
           "the table of sections:"),
     &cn_block_file_footer_layout},
    {LINES("A section:"), &cn_block_file_section_layout},
    {LINES("A bucket:"), &cn_hpc_latency_bucket_layout},
    {LINES("A profile, in the order of profile.db:"), &cn_hpc_latency_profile_layout},
    {LINES("A count of its plane:"), &cn_hpc_latency_count_layout},
    {LINES("A context of its plane; its counts end where those of the next begin:"),
     &cn_hpc_latency_context_layout},
};

static const struct passage states[] = {
    {LINES(
         "## states.db", "",
         "Not a file of HPCToolkit either, and made of blocks as latency.db is, with two",
         "sections: profiles (1) and changes of their states (2); and where it is known,",
         "the same of their times on processors (3, 4), and wake-ups (5). A profile, in "
         "the",
         "order of profile.db:"),
     &cn_hpc_states_profile_layout},
    {LINES("A change, whose state lasts until the next one of the profile:"),
     &cn_hpc_states_change_layout},
    {LINES("A time on a processor; those of a profile are in the order of time:"),
     &cn_hpc_states_run_layout},
    {LINES("A wake-up, of section 5:"), &cn_hpc_states_wakeup_layout},
    {LINES("Where allocations are known: processes (8), in the order of time by how much",
           "the live bytes of a context changed (9), and the resolution of these times",
           "(10). A process:"),
     &cn_hpc_states_heap_process_layout},
    {LINES("A change:"), &cn_hpc_states_heap_change_layout},
    {LINES("Where system calls are known: the calls, in the order of their beginnings "
           "(11), and",
           "strings, each with a NUL, numbered from 0 (12). A call:"),
     &cn_hpc_states_io_call_layout},
    {LINES("Where it is known which locks threads wait for: locks (13), waits (14), and "
           "names",
           "of variables, each of which ends with 0 (15). A lock:"),
     &cn_hpc_states_lock_layout},
    {LINES("A wait:"), &cn_hpc_states_lock_wait_layout},
    {LINES("Where launches of operations of GPUs are known (16):"),
     &cn_hpc_states_launch_layout},
    {LINES(
         "Where what was live of the memory of GPUs is known: as of the heap, GPUs (17), "
         "changes",
         "(18) and the tick (19). A GPU:"),
     &cn_hpc_states_gpu_memory_layout},
    {LINES("## origin.txt", "",
           "Not a file of HPCToolkit either: lines `KEY=VALUE` about the run and how it "
           "was",
           "measured. Readers ignore keys that they do not know."),
     NULL},
};

static const char *const metrics_example[] = {
    "# How metrics are presented. Programs that show this database read every *.yaml "
    "file in",
    "# this folder, default.yaml first. This file is an explanation and is not read.",
    "version: 0",
    "",
    "# The statistics that formulas use. Each must be in meta.db exactly once, with the "
    "same",
    "# metric name, scope, formula and combination. The anchor (&...) is a name for it "
    "here.",
    "inputs:",
    "  - &time-inclusive",
    "    metric: CPUTIME (sec)",
    "    scope: execution    # point, function, lex_aware or execution",
    "    formula: $$         # $$ is the value of a thread; also: 1, ($$^2)",
    "    combine: sum        # sum, min or max over threads",
    "  - &time-function",
    "    metric: CPUTIME (sec)",
    "    scope: function",
    "    formula: $$",
    "    combine: sum",
    "  - &time-lex_aware",
    "    metric: CPUTIME (sec)",
    "    scope: lex_aware",
    "    formula: $$",
    "    combine: sum",
    "  - &time-count",
    "    metric: CPUTIME (sec)",
    "    scope: execution",
    "    formula: 1",
    "    combine: sum",
    "",
    "# The metrics on show. A metric may have `children`, a list of metrics below it.",
    "roots:",
    "  - name: CPUTIME (sec)",
    "    description: Time a thread was running",
    "    visible by default: true",
    "    variants:",
    "      Sum:                           # the name of a column",
    "        render: [number, percent]    # also: hidden, colorbar",
    "        format: '%.2e'               # of the number, as for printf",
    "        formula:",
    "          inclusive:",
    "            standard: *time-inclusive",
    "          exclusive:",
    "            custom: *time-lex_aware  # preferred to standard where it is known",
    "            standard: *time-function",
    "      Mean:",
    "        render: [number]",
    "        formula:",
    "          inclusive:",
    "            # An operator and its arguments: + - * / ^, or a function: sum, prod, "
    "pow,",
    "            # sqrt, log, min, max, floor, ceil. Arguments are inputs, numbers, "
    "formulas.",
    "            standard: {/: [*time-inclusive, *time-count]}",
    NULL,
};

static void add_lines(struct cn_text *text, const char *const *lines)
{
    for (size_t i = 0; lines[i]; i++) {
        cn_text_str_add(text, lines[i]);
        cn_text_char(text, '\n');
    }
}

static void add_layout(struct cn_text *text, const struct cn_record_layout *layout)
{
    cn_text_str_add(text, "\n| offset | type | field | meaning |\n"
                          "| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < layout->field_count; i++) {
        const struct cn_field *field = &layout->fields[i];

        cn_text_printf(text, "| 0x%02x | %s | `%s` | %s |\n", field->offset, field->type,
                       field->name, field->meaning);
    }
    cn_text_printf(text, "| 0x%02zx | | | end |\n\n", layout->size);
}

static void add_passages(struct cn_text *text, const struct passage *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_lines(text, list[i].lines);
        if (list[i].layout)
            add_layout(text, list[i].layout);
        else
            cn_text_char(text, '\n');
    }
}

static bool write_text(const struct cn_hpc_writing *w, const char *name,
                       const struct cn_text *text, struct cn_error *err)
{
    struct cn_out out = {0};
    bool ok = cn_out_open_at(&out, w->dir, name, err) &&
              cn_out_write(&out, text->chars, text->len, err) && cn_out_close(&out, err);

    cn_out_abandon(&out);
    return ok;
}

bool cn_hpc_origin_write(const struct cn_hpc_writing *w, struct cn_error *err)
{
    struct cn_text text = {0};

    cn_origin_encode(&w->db->origin, &text);
    bool ok = text.len == 0 || write_text(w, CN_HPC_ORIGIN_NAME, &text, err);
    cn_text_done(&text);
    return ok;
}

bool cn_hpc_documents_write(const struct cn_hpc_writing *w, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok;

    add_passages(&text, common, sizeof(common) / sizeof(*common));
    add_passages(&text, meta, sizeof(meta) / sizeof(*meta));
    add_passages(&text, values, sizeof(values) / sizeof(*values));
    if (w->resolution_ns > 0)
        cn_text_printf(&text,
                       "The timelines of this database " CN_HPC_EXACT_TO "%" PRIu64
                       " ns: of the samples in\nas many ns, the last is stored.\n\n",
                       w->resolution_ns);
    add_passages(&text, latency, sizeof(latency) / sizeof(*latency));
    add_passages(&text, states, sizeof(states) / sizeof(*states));
    text.len--; /* the empty line at the end */
    ok = write_text(w, CN_HPC_FORMATS_NAME, &text, err);
    cn_text_clear(&text);
    add_lines(&text, metrics_example);
    ok = ok && write_text(w, "metrics/METRICS.yaml.ex", &text, err);
    cn_text_done(&text);
    return ok;
}
