"""All databases and measurements, in a folder like the one of real data, with the numbers that readers must find."""
import hpcdb
import hpcold
import hpcprof
import hpcrun
import measurements as m

MEASUREMENTS = {"small": m.small, "loops-cputime-t": m.loops_cputime, "loops-perf": m.loops_perf,
                "loops-cuda-nvidia-t": m.loops_cuda}


def write(folder):
    facts = []

    def note(name, db, **more):
        numbers = db.facts() | more
        facts.append(" ".join([name, *map(str, numbers.values())]))

    def v4(name, db, layout="final", **more):
        hpcdb.write_v4(db, folder / name, layout)
        note(name, db, **more)

    for name, make in MEASUREMENTS.items():
        hpcrun.write(make(), folder / "meas" / f"{name}.m")
        v4(f"v4/{name}.d", hpcprof.convert(make()))
        v4(f"v4/{name}.nostruct.d", hpcprof.convert(make(), with_structures=False))
    v4("v4/gen-small-stats", hpcprof.convert(m.small(), statistics=hpcdb.ALL_STATISTICS))
    v4("v4/viewer-issue-233", hpcprof.convert(m.wide()))
    v4("v4/viewer-loop-fork-cycles", hpcprof.convert(m.forked()))
    quiet = hpcprof.convert(m.traced_in_vain())
    quiet.has_traces, quiet.range_ns = True, (0, 0)
    v4("v4/viewer-d.x", quiet)
    # An entry point is a function in the first draft.
    draft = hpcprof.convert(m.loops_cputime())
    v4("v4-draft/viewer-loop-inline", draft, "draft-a", **in_draft(draft))
    v4("v4/draft-b", hpcprof.convert(m.loops_perf()), "draft-b")

    def old(name, writer, db, *words, contexts=None):
        writer(db, folder / name, *words)
        samples = sum(1 for p in db.profiles for s in p.samples if s[1] or writer is not hpcold.write_legacy)
        found = db.facts()["contexts"] if contexts is None else contexts
        facts.append(f"{name} {found} {samples if db.has_traces else 0} {1 + len(db.profiles)}")

    def proto(name, db, is_finished):
        """Of an unfinished one no context is known; its values have points too."""
        old(name, hpcold.write_proto, db, is_finished, contexts=db.context_count - 1 if is_finished else 0)
        values = hpcold.OldValues(db, not is_finished)
        of_threads = sum(len(row) for profile in values.profiles for row in profile.values())
        facts[-1] += f" {of_threads + sum(map(len, values.summary.values()))} {of_threads}"

    old("xml/gen-small", hpcold.write_xml, hpcprof.convert(m.small()))
    old("xml/gen-loops-cputime-t", hpcold.write_xml, hpcprof.convert(m.loops_cputime()))
    old("xml/viewer-empty-trace", hpcold.write_xml, hpcprof.convert(without_traces(m.small())), True, True)
    old("xml-legacy/hatchet-cpi", hpcold.write_legacy, hpcprof.convert(without_traces(m.forked())), "2.0", False)
    old("xml-legacy/viewer-inline.xml.db", hpcold.write_legacy, hpcprof.convert(m.loops_cputime()), "2.2", True)
    proto("proto/synth-small-7sec", hpcprof.convert(m.small()), True)
    proto("proto/unfinished-small", hpcprof.convert(m.small()), False)
    (folder / "facts").write_text("\n".join(facts) + "\n")


def without_traces(measurement):
    for profile in measurement.profiles:
        profile.trace = None
    return measurement


def in_draft(db):
    """The first draft has no entry points, and lists the contexts below them."""
    numbers = db.facts()
    entries = db.root.children
    return {"contexts": numbers["contexts"] - len(entries), "entries": 0}
