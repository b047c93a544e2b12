// The calls of a task over its whole time, a few levels of them, and where the list is.

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isDark } from "../shared/look/colors";
import { formatNs } from "../shared/format";
import { useWidth } from "../shared/narrow";
import type { Range } from "../shared/range";
import { uiScale } from "../shared/look/ui_scale";
import { useAnswer } from "../shared/use_answer";
import { parseNested } from "../timeline/nested";
import { drawCalls, prepare, readTheme } from "../timeline/track_draw";
import type { NestedTimeline } from "../../generated/answers";

const LEVELS = 5;
const LEVEL_PX = 7;
const MARK_PX = 3; // at least

interface Props {
  path: string;
  profile: number;
  duration: number; // ns
  shown: Range | null; // the times of the list
  onChoose: (time: number) => void;
}

export function CallsMap(props: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { element, width } = useWidth(true);
  const { value } = useAnswer<NestedTimeline>(
    width > 0 ? `${props.path}/timeline` : null,
    { nested: 1, snap: 1, columns: Math.min(2000, width), thread: String(props.profile) },
    ({ isPending }) => isPending,
  );
  const frame = useMemo(() => value && parseNested(value), [value]);
  const row = frame?.rows.get(props.profile);
  const level = Math.round(LEVEL_PX * uiScale());
  const height = Math.max(1, Math.min(LEVELS, row?.levels ?? LEVELS)) * level + 2;
  const { duration, shown } = props;
  useLayoutEffect(() => {
    const context = canvas.current && prepare(canvas.current, width, height);
    if (!context) return;
    const theme = readTheme();
    const range = { begin: 0, end: duration };
    if (frame && row)
      drawCalls(context, frame, row, { range, left: 0, width, top: 0, height, level }, theme);
    if (!shown) return;
    const left = (shown.begin / duration) * width;
    const size = Math.max(MARK_PX, ((shown.end - shown.begin) / duration) * width);
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    context.strokeRect(Math.min(left, width - size) + 1, 1, size - 2, height - 2);
    context.globalAlpha = 0.25;
    context.fillStyle = theme.accent;
    context.fillRect(Math.min(left, width - size), 0, size, height);
    context.globalAlpha = 1;
  }, [frame, row, width, height, duration, shown?.begin, shown?.end, isDark()]);
  const choose = (event: PointerEvent) => {
    if (event.buttons === 0) return;
    const { left } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    props.onChoose(Math.floor(share * duration));
  };
  return (
    <div class="calls-map" ref={element}>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`the whole time of the task, ${formatNs(duration)}; a click goes to the calls of a time`}
        title="a click goes to the calls of a time"
        style={{ width: `${width}px`, height: `${height}px` }}
        onPointerDown={choose}
        onPointerMove={choose}
      />
    </div>
  );
}
