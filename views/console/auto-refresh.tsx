/** Interval while something is in progress. */
const INTERVAL = 'every 2s'

/** Refreshes the element `id` of its own page until the server no longer renders this element. */
export const AutoRefresh = ({ id, here }: { id: string; here: string }) => (
  <span
    id={`${id}-watch`}
    hidden
    hx-get={here}
    hx-trigger={INTERVAL}
    hx-target={`#${id}`}
    hx-select={`#${id}`}
    hx-swap="outerMorph"
  />
)
