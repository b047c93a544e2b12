// The base of the times of a page: corrected or recorded, with or without waiting.

export function Base(props: { base: string | undefined }) {
  if (!props.base) return null;
  return (
    <span class="status" title="what the times of this page are">
      {props.base}
    </span>
  );
}
