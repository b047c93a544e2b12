/* The files of the viewer, from the output folder of the web build, which -I names. */
        .section .rodata

        .macro asset name, file
        .global cn_asset_\name
        .global cn_asset_\name\()_end
cn_asset_\name:
        .incbin "\file"
cn_asset_\name\()_end:
        .byte 0
        .endm

        asset page, "index.html"
        asset script, "app.js"
        asset style, "app.css"
        asset engine, "cairn.wasm.gz"
        asset examples, "examples.json"

        .section .note.GNU-stack, "", %progbits
