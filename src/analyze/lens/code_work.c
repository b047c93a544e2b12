#include "analyze/lens/code_work.h"

#include "analyze/lens/matches.h"

const char *cn_code_work_name(unsigned work)
{
    static const char *const names[CN_CODE_WORKS] = {
        [CN_WORK_UNKNOWN] = "unknown",
        [CN_WORK_KERNEL] = "kernel",
        [CN_WORK_LIBRARY] = "libraries and programs of the system",
        [CN_WORK_RUNTIME] = "other work of the run-time",
        [CN_WORK_START] = "start and end",
        [CN_WORK_COMPILER] = "compiler of the run-time",
        [CN_WORK_COLLECTOR] = "garbage collection",
        [CN_WORK_PROGRAM] = "program",
    };

    return names[work < CN_CODE_WORKS ? work : CN_WORK_UNKNOWN];
}

uint8_t cn_code_work_below(uint8_t above, uint8_t work)
{
    if (work == CN_WORK_PROGRAM)
        return work;
    return above >= CN_WORK_START || above > work ? above : work;
}

/* What begins and ends programs, and what run-times do before the first and after the last function
 * of the program. Functions of the program that are called from there are the program. */
static const char *const of_start[] = {
    /* The loader, the C library. */
    "_dl_start*",
    "_dl_main",
    "dl_main",
    "_dl_sysdep_start",
    "_dl_init*",
    "call_init*",
    "_dl_relocate_*",
    "_GLOBAL__sub_I_*",
    "__libc_csu_init",
    "__libc_early_init*",
    "__run_exit_handlers",
    "_dl_fini",
    "_dl_call_fini",
    /* CPython. */
    "Py_Initialize*",
    "Py_PreInitialize*",
    "Py_Finalize*",
    "pymain_init",
    "pyinit_*",
    "_PyRuntime_Initialize",
    /* HotSpot, and java. */
    "JLI_Launch",
    "JavaMain",
    "JNI_CreateJavaVM",
    "Threads::create_vm(*",
    "LoadJavaVM",
    "jni_DestroyJavaVM",
    "DestroyJavaVM*",
    "before_exit(*",
    "sun.launcher.LauncherHelper.*",
    /* Node and V8. */
    "node::InitializeOncePerProcess*",
    "node::TearDownOncePerProcess*",
    "node::NodeMainInstance::NodeMainInstance(*",
    "node::NodeMainInstance::~NodeMainInstance(*",
    "node::NodeMainInstance::CreateMainEnvironment(*",
    "node::LoadEnvironment(*",
    "node::FreeEnvironment(*",
    "node::LoadSnapshotDataAndRun*",
    "node::NewIsolate(*",
    "v8::V8::Initialize*",
    "v8::V8::Dispose*",
    /* Ruby, PHP, Perl. */
    "ruby_init",
    "ruby_setup",
    "ruby_sysinit",
    "ruby_options",
    "ruby_process_options",
    "ruby_cleanup",
    "ruby_finalize",
    "ruby_vm_destruct",
    "php_module_startup",
    "php_module_shutdown",
    "php_request_startup",
    "php_request_shutdown",
    "perl_construct",
    "perl_parse",
    "perl_destruct",
    "perl_free",
    /* Erlang. */
    "erl_start",
    /* Go. */
    "runtime.rt0_go*",
    "runtime.schedinit*",
    "runtime.doInit*",
    "runtime.check",
    "runtime.args",
    "runtime.osinit*",
};

static const char *const of_compilers[] = {
    /* HotSpot. */
    "CompileBroker::*",
    "NMethodSweeper::*",
    "[compile *",
    "C2Compiler::*",
    "Compiler::*",
    "jdk.vm.ci.*",
    /* V8. */
    "v8::internal::OptimizingCompileDispatcher*",
    "v8::internal::baseline::*",
    "v8::internal::maglev::*",
    "v8::internal::compiler::*",
    "v8::internal::LazyCompileDispatcher*",
    "v8::internal::wasm::*Compil*",
    "v8::internal::BackgroundCompileTask*",
    /* .NET, LuaJIT, Ruby. */
    "CILJit::*",
    "lj_trace_*",
    "rb_yjit_*",
    "rjit_*",
    /* Erlang, which compiles modules when it loads them. */
    "erts_prepare_loading*",
    "erts_finish_loading*",
    "beamasm_*",
    "BeamModuleAssembler::*",
    "BeamGlobalAssembler::*",
};

static const char *const of_collectors[] = {
    /* HotSpot: all its threads but those of Java, the compilers and the virtual machine are of
     * collectors. */
    "GangWorker::*",
    "AbstractGangWorker::*",
    "WorkerThread::*",
    "ConcurrentGCThread::*",
    "G1*",
    "VM_G1*",
    "VM_GenCollect*",
    "VM_ParallelGC*",
    "VM_CollectForMetadata*",
    "VM_GC_*",
    "GCTaskThread::*",
    "Shenandoah*",
    "VM_Shenandoah*",
    "ParallelScavenge*",
    "PSParallel*",
    "ZDriver*",
    "ZDirector*",
    "ZCollect*",
    "ZMark*",
    "ZRelocate*",
    "XDriver*",
    "XDirector*",
    "EpsilonHeap::*",
    /* V8. */
    "v8::internal::Heap::CollectGarbage*",
    "v8::internal::Heap::PerformGarbage*",
    "v8::internal::Scavenge*",
    "v8::internal::*Marking*",
    "v8::internal::*Sweep*",
    "v8::internal::MarkCompact*",
    "v8::internal::*Evacuat*",
    "v8::internal::MemoryAllocator::*",
    "v8::internal::PointersUpdatingJob*",
    "cppgc::*",
    "(garbage collector)",
    /* Go. */
    "runtime.gc*",
    "runtime.bgsweep*",
    "runtime.bgscavenge*",
    "runtime.scanobject*",
    "runtime.sweepone*",
    "runtime.(*gcWork)*",
    "created by runtime.gc*",
    /* CPython, Ruby, .NET. */
    "PyGC_Collect",
    "_PyGC_Collect*",
    "rb_gc*",
    "gc_thread*",
    "SVR::*",
    "WKS::*",
    /* Erlang. */
    "erts_garbage_collect*",
    "global::garbage_collect*",
};

/* The names of run-times mean nothing elsewhere. */
static bool is_of_runtime(enum cn_code_kind kind, const char *name)
{
    return kind == CN_CODE_RUNTIME || cn_begins_with(name, "jdk.vm.ci.") ||
           cn_begins_with(name, "sun.launcher.") || cn_begins_with(name, "created by ");
}

uint8_t cn_code_work_of(enum cn_code_kind kind, const char *name)
{
    if (kind == CN_CODE_MINE)
        return CN_WORK_PROGRAM;
    if (is_of_runtime(kind, name)) {
        if (CN_MATCHES_ANY(name, of_collectors))
            return CN_WORK_COLLECTOR;
        if (CN_MATCHES_ANY(name, of_compilers))
            return CN_WORK_COMPILER;
    }
    if (kind != CN_CODE_OF_KERNEL && CN_MATCHES_ANY(name, of_start))
        return CN_WORK_START;
    switch (kind) {
    case CN_CODE_OF_KERNEL:
        return CN_WORK_KERNEL;
    case CN_CODE_RUNTIME:
        return CN_WORK_RUNTIME;
    case CN_CODE_LIBRARY:
        return CN_WORK_LIBRARY;
    case CN_CODE_MINE:
    case CN_CODE_STARTUP:
        break;
    }
    return CN_WORK_UNKNOWN;
}
