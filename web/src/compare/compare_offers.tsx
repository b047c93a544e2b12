// What could be compared with the source of the page: other sources that are open, other threads, other times, traces of
// other queries, and what was open before.

import type { ComponentChildren } from "preact";
import { CopyCommand, shellQuote } from "../shared/copy_command";
import { formatNs } from "../shared/format";
import { recentSources } from "../shared/recent";
import { linkTo, type State } from "../shared/state";
import { useAnswer } from "../shared/use_answer";
import type { Histogram, Info, Source, Thread } from "../../generated/answers";
import { runGroups, withSides } from "./compare_model";
import type { CompareProps } from "./compare_page";

const OFFERED = 8;

const change = (state: State): string => linkTo({ v: "compare", ct: "", ...state });

export function CompareOffers(props: CompareProps) {
  const own = props.sources[Number(props.state.s ?? 0)];
  if (!own) return null;
  const isStore = own.kind === "store";
  const others = props.sources.filter(
    ({ id, kind }) => id !== own.id && (kind === "store") === isStore,
  );
  const groups = isStore ? [] : runGroups([own, ...others]);
  return (
    <div class="scroll compare-offers">
      <h1>
        Compare <span class="side-mark a">A</span> {own.name} with…
      </h1>
      <div class="offers">
        {groups.length > 0 && (
          <Offers title="All runs of one kind with all of another">
            {groups.map(([a, b]) => (
              <Offer
                key={`${a.title} ${b.title}`}
                href={change(withSides({ a: a.ids, b: b.ids }))}
                title={`${a.title} and ${b.title}`}
                note={`${a.ids.length} and ${b.ids.length} runs: several runs tell changes from noise`}
              />
            ))}
          </Offers>
        )}
        {others.length > 0 && (
          <Offers title="Another run that is open">
            {others.map((source) => (
              <Offer
                key={source.id}
                href={change({ cb: String(source.id) })}
                title={source.name}
                note={source.path}
              />
            ))}
          </Offers>
        )}
        {isStore ? <StoreOffers source={own} /> : <DataOffers source={own} />}
        <Recent own={own} open={props.sources} />
      </div>
    </div>
  );
}

function Offers(props: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{props.title}</h2>
      <ul class="offer-list">{props.children}</ul>
    </section>
  );
}

function Offer(props: { href: string; title: string; note: string }) {
  return (
    <li>
      <a href={props.href}>{props.title}</a>{" "}
      {props.note !== props.title && <small class="faint">{props.note}</small>}
    </li>
  );
}

// Threads with each other, and parts of the time.
function DataOffers(props: { source: Source }) {
  const path = `sources/${props.source.id}`;
  const { value: info } = useAnswer<Info>(`${path}/info`, {}, (answer) => !answer.isReady);
  const { value: threads } = useAnswer<Thread[]>(
    info?.isReady && info.threadCount > 1 ? `${path}/threads` : null,
    { count: 200 },
  );
  if (!info) return null;
  const cb = String(props.source.id);
  const busiest = [...(threads ?? [])]
    .sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || b.values - a.values)
    .slice(0, OFFERED);
  const [first, ...others] = busiest;
  const half = Math.floor(info.duration / 2);
  const tenth = Math.floor(info.duration / 10);
  return (
    <>
      {first && others.length > 0 && (
        <Offers title="Threads of the same run">
          {others.map((thread) => (
            <Offer
              key={thread.profile}
              href={change({ cb, cat: first.selector, cbt: thread.selector })}
              title={`${first.label} and ${thread.label}`}
              note=""
            />
          ))}
        </Offers>
      )}
      {info.hasTimelines && info.duration > 0 && (
        <Offers title="Times of the same run">
          <Offer
            href={change({ cb, car: `0-${half}`, cbr: `${half}-${info.duration}` })}
            title="the first half and the second"
            note={`${formatNs(half)} each`}
          />
          <Offer
            href={change({
              cb,
              car: `0-${tenth}`,
              cbr: `${info.duration - tenth}-${info.duration}`,
            })}
            title="the first tenth and the last"
            note={`${formatNs(tenth)} each`}
          />
          <li class="faint">
            or select a time in the <a href={linkTo({ v: "timeline" })}>timeline</a> and choose
            “Compare with the whole time”
          </li>
        </Offers>
      )}
    </>
  );
}

// Traces that failed, that are slow, or that are recent, with the others.
function StoreOffers(props: { source: Source }) {
  const path = `sources/${props.source.id}`;
  const { value } = useAnswer<Histogram>(`${path}/histogram`, { steps: 2 });
  const cb = String(props.source.id);
  const p90 = Math.max(0, ...(value?.steps.map((step) => step[3]) ?? []));
  const p50 = Math.max(0, ...(value?.steps.map((step) => step[2]) ?? []));
  const middle =
    value &&
    new Date(Number((BigInt(value.first) + BigInt(value.step)) / 1_000_000n)).toISOString();
  const at = middle?.replace("T", " ").replace("Z", "") ?? "";
  return (
    <Offers title="Traces of the same store">
      <Offer
        href={change({ cb, caq: "not errors", cbq: "errors" })}
        title="traces without errors and with errors"
        note="errors"
      />
      {p90 > p50 && (
        <Offer
          href={change({ cb, caq: `duration <= ${p50}ns`, cbq: `duration >= ${p90}ns` })}
          title="typical traces and slow ones"
          note={`up to ${formatNs(p50)}, from ${formatNs(p90)} on`}
        />
      )}
      {value && (
        <Offer
          href={change({ cb, caq: `until "${at}"`, cbq: `since "${at}"` })}
          title="the first half of the time and the second"
          note={`before and after ${at} UTC`}
        />
      )}
      <li class="faint">
        or open a trace of the <a href={linkTo({ v: "" })}>list</a> and choose “Compare with
        another…”
      </li>
    </Offers>
  );
}

// What this browser showed before: the server opens what its command names.
function Recent(props: { own: Source; open: Source[] }) {
  const isOpen = (path: string) => props.open.some((source) => source.path === path);
  const recent = recentSources().filter(
    ({ path, kind }) => !isOpen(path) && (kind === "store") === (props.own.kind === "store"),
  );
  return (
    <Offers title="What was open before">
      {recent.slice(0, OFFERED).map(({ path, name }) => {
        const command = `cairn view ${shellQuote(props.own.path)} ${shellQuote(path)}`;
        return (
          <li key={path} class="recent">
            <span title={path}>{name}</span> <code>{command}</code> <CopyCommand text={command} />
          </li>
        );
      })}
      {recent.length === 0 && (
        <li class="faint">
          nothing yet. Open both: <code>cairn view {shellQuote(props.own.path)} OTHER</code>
        </li>
      )}
    </Offers>
  );
}
