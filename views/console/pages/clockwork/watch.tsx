/** What runs has ended soon: a look every other second is cheap, and there is none once it has. */
const EVERY = 'every 2s'

/**
 * Looks again at its own page until nothing is under way there any more: what comes then is without
 * it. `id` names the part of the page that it draws anew.
 */
export const Watch = ({ id, here }: { id: string; here: string }) => (
  <span
    id={`${id}-watch`}
    hidden
    hx-get={here}
    hx-trigger={EVERY}
    hx-target={`#${id}`}
    hx-select={`#${id}`}
    hx-swap="outerMorph"
  />
)
