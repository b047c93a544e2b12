/* What the meta.db of v4 and of the prototype have in common, byte by byte.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_META_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_META_FORMAT_H

/* Sections, in the order of the file header. */
enum cn_hpc_meta_section {
    CN_HPC_GENERAL,
    CN_HPC_ID_NAMES,
    CN_HPC_METRICS,
    CN_HPC_CONTEXTS,
    CN_HPC_STRINGS,
    CN_HPC_MODULES,
    CN_HPC_FILES,
    CN_HPC_FUNCTIONS,
    CN_HPC_META_SECTION_COUNT,
};

/* The flag of a source file that is copied into the database. */
enum { CN_HPC_FILE_COPIED = 1 << 0 };

#endif
