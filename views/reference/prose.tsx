/** Renders text between backticks as code. */
export const Prose = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
)

/** Name of an HTTP method, in its color. */
export const Method = ({ name }: { name: string }) => (
  <b class={`method ${name}`}>{name.toUpperCase()}</b>
)

/** A path that breaks into lines after a slash. */
export const Path = ({ path }: { path: string }) => (
  <code>
    {path.split('/').map((part, at) => (
      <>
        {at > 0 && (
          <>
            /<wbr />
          </>
        )}
        {part}
      </>
    ))}
  </code>
)
