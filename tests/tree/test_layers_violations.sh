# tools/check_layers finds each kind of violation, and only those.
set -eu

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

# put FILE INCLUDE...: a source file that includes these.
put() {
    file=$root/src/$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '#include %s\n' "$@" >"$file"
}

put base/text.c '"base/text.h"' '<stdatomic.h>'
put base/run/pool.c '"base/text.h"' '"base/bytes/wire.h"' '<pthread.h>'
put model/contexts/metric.c '"model/contexts/metric.h"' '"base/text.h"' '<stdio.h>'
put open/formats.c '"formats/uftrace/reader.h"' '"model/step.h"' '"store/format.h"'
put formats/hpctoolkit/v4/v4.c '"formats/hpctoolkit/v4/verify/verify.h"'
put formats/hpctoolkit/v4/read/meta.c '"formats/hpctoolkit/v4/read/meta.h"' \
    '"formats/hpctoolkit/identity.h"' '"formats/hpctoolkit/v4/format.h"' \
    '"formats/uftrace/format.h"' '<yaml.h>'
put formats/hpctoolkit/proto/meta.c '"formats/hpctoolkit/sparse/open.h"'
put analyze/cct/tree.c '"model/contexts/metric.h"' '"analyze/calls/feed.h"'
put store/maintenance/maintenance.c '"formats/zorka/reader.h"' '"store/index/row.h"'
put server/api/rows.c '"base/bytes/json.h"' '"server/served/views.h"'
put mpi/ranks.c '"base/run/ranks.h"' '<mpi.h>'
put analyze/cct/ranks.c '"base/run/ranks.h"'
put cli/shell/main.c '"open/formats.h"' '"analyze/cct/tree.h"'
put cli/tui/terminal.c '"cli/info/info.h"' '<ncurses.h>'
put open/host/target.c '"open/open.h"'
put store/search/search.c '"store/segment/reader.h"'
put cli/views/cmd_views.c '"open/open.h"'
put record/calls/hooks.c '"formats/uftrace/format.h"' '"base/bytes/record.h"' '<stdatomic.h>'
"$CAIRN_SOURCE/tools/check_layers" "$root"

put base/bad.c '"model/contexts/metric.h"' '"base/bytes/wire.h"' '<pthread.h>'
put model/bad.c '<stdio.h>' '"analyze/cct/tree.h"' '<pthread.h>'
put formats/uftrace/bad.c '"formats/zorka/reader.h"' '<expat.h>' '"analyze/cct/tree.h"' \
    '"formats/hpctoolkit/sparse/open.h"' '"store/format.h"'
put formats/hpctoolkit/xml/bad.c '"formats/hpctoolkit/v4/meta.h"'
put formats/hpctoolkit/v4/read/bad.c '"formats/hpctoolkit/v4/verify/verify.h"' \
    '"formats/hpctoolkit/v4/v4.h"'
put analyze/calls/bad.c '"open/formats.h"' '<mpi.h>' '  "base/text.h"' \
    '"analyze/views/view.h"'
put analyze/cct/bad.c '"base/run/ranks.h"'
put lib/bad.c '"open/open.h"'
put open/bad.c '"open/host/target.h"'
put store/index/bad.c '"formats/uftrace/reader.h"' '"store/segment/reader.h"'
put store/search/bad.c '"store/write/writer.h"'
put server/served/bad.c '"base/text.h"' '"base/bytes/json.h"' '"model/traces/json.h"'
put cli/bad.c '"record/calls/hooks.h"' '<microhttpd.h>'
put record/bad.c '"base/text.h"'
put stray/new.c '<stdio.h>'
put analyze/calls/call_report.c '"base/text.h"'
put base/files/chunk_file.c '"base/text.h"'
put server/http/server_state.c '"base/text.h"'
echo 'ok = format->probe(path);' >>"$root/src/lib/bad.c"
echo 'struct row {' >>"$root/src/open/bad.c"
echo 'static const struct row {' >>"$root/src/record/bad.c"
cat >"$root/expected" <<'END'
src/analyze/calls/bad.c:1: analyze/calls may not include open/formats.h
src/analyze/calls/bad.c:2: analyze/calls may not include mpi.h
src/analyze/calls/bad.c:4: analyze/calls may not include analyze/views/view.h
src/analyze/calls/call_report.c:1: its name repeats that of the folder analyze/calls
src/analyze/cct/bad.c:1: analyze/cct may not include base/run/ranks.h
src/base/bad.c:1: base may not include model/contexts/metric.h
src/base/bad.c:2: base may not include base/bytes/wire.h
src/base/bad.c:3: base may not include pthread.h
src/base/files/chunk_file.c:1: its name repeats that of the folder base/files
src/cli/bad.c:1: cli may not include record/calls/hooks.h
src/cli/bad.c:2: cli may not include microhttpd.h
src/formats/hpctoolkit/v4/read/bad.c:1: formats/hpctoolkit/v4/read may not include formats/hpctoolkit/v4/verify/verify.h
src/formats/hpctoolkit/v4/read/bad.c:2: formats/hpctoolkit/v4/read may not include formats/hpctoolkit/v4/v4.h
src/formats/hpctoolkit/xml/bad.c:1: formats/hpctoolkit/xml may not include formats/hpctoolkit/v4/meta.h
src/formats/uftrace/bad.c:1: formats/uftrace may not include formats/zorka/reader.h
src/formats/uftrace/bad.c:2: formats/uftrace may not include expat.h
src/formats/uftrace/bad.c:3: formats/uftrace may not include analyze/cct/tree.h
src/formats/uftrace/bad.c:4: formats/uftrace may not include formats/hpctoolkit/sparse/open.h
src/formats/uftrace/bad.c:5: formats/uftrace may not include store/format.h
src/lib/bad.c:2: lib may not call ->probe(
src/model/bad.c:2: model may not include analyze/cct/tree.h
src/model/bad.c:3: model may not include pthread.h
src/open/bad.c:1: open may not include open/host/target.h
src/record/bad.c:1: record may not include base/text.h
src/record/bad.c:2: row is also defined in open/bad.c
src/server/http/server_state.c:1: its name repeats that of the folder server/http
src/server/served/bad.c:2: server/served may not include base/bytes/json.h
src/server/served/bad.c:3: server/served may not include model/traces/json.h
src/store/index/bad.c:1: store/index may not include formats/uftrace/reader.h
src/store/index/bad.c:2: store/index may not include store/segment/reader.h
src/store/search/bad.c:1: store/search may not include store/write/writer.h
src/stray/new.c:1: no rule for the folder stray
END
if "$CAIRN_SOURCE/tools/check_layers" "$root" >"$root/found"; then
    echo "violations did not make it fail"
    exit 1
fi
diff -u "$root/expected" "$root/found"
