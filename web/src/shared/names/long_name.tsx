// A long name, which may break after "::" and "." rather than inside a word.

export function LongName({ name }: { name: string }) {
  return (
    <>
      {name.split(/(?<=::|\.)(?=[\w~])/).map((part, i) => (
        <span key={i}>
          {i > 0 && <wbr />}
          {part}
        </span>
      ))}
    </>
  );
}
