// A time range, in nanoseconds from the start.

export interface Range {
  begin: number;
  end: number;
}

const SPAN_MIN = 10; // nanoseconds

export function clampRange(range: Range, duration: number): Range {
  const span = Math.min(Math.max(range.end - range.begin, SPAN_MIN), duration);
  const begin = Math.min(Math.max(range.begin, 0), duration - span);
  return {
    begin: Math.floor(begin),
    end: Math.ceil(begin + span) > duration ? duration : Math.ceil(begin + span),
  };
}

export function panRange(range: Range, by: number): Range {
  return { begin: range.begin + by, end: range.end + by };
}

// Zoom so that the time `middle` stays where it is.
export function zoomRange(range: Range, middle: number, factor: number): Range {
  return {
    begin: middle - (middle - range.begin) * factor,
    end: middle + (range.end - middle) * factor,
  };
}
