/* The programs for the kernel, as clang compiled it; -I names its folder. */
        .section .rodata
        .balign 8
        .global cn_kernel_object
        .global cn_kernel_object_end
cn_kernel_object:
        .incbin "unwind.bpf.o"
cn_kernel_object_end:
        .byte 0
        .balign 8
        .global cn_paths_object
        .global cn_paths_object_end
cn_paths_object:
        .incbin "paths.bpf.o"
cn_paths_object_end:
        .byte 0
        .balign 8
        .global cn_allocations_object
        .global cn_allocations_object_end
cn_allocations_object:
        .incbin "allocations.bpf.o"
cn_allocations_object_end:
        .byte 0

        .section .note.GNU-stack, "", %progbits
