import { Banner } from '../ui/banner.tsx'

/** Name of the server-sent event that ends a stream. */
export const STREAM_END = 'over'

/**
 * Keeps parts of a page current with server-sent events, each of which names its target. The ID differs
 * by state, so that a new version of the page opens a new stream.
 */
export const LiveSource = ({ href, shownId }: { href: string; shownId: string }) => (
  <div
    id={`live-${shownId}`}
    hidden
    {...{ 'hx-sse:connect': href, 'hx-sse:close': STREAM_END, 'hx-swap': 'none' }}
  />
)

/** Interval while something is in progress. */
const INTERVAL = 'every 2s'

/**
 * Refreshes the element `id` of its own page until the server no longer renders this element. It stays as
 * it is while the server restarts, or another one takes over.
 */
export const AutoRefresh = ({ id, here }: { id: string; here: string }) => (
  <span
    id={`${id}-watch`}
    hidden
    hx-get={here}
    hx-trigger={INTERVAL}
    hx-target={`#${id}`}
    hx-select={`#${id}`}
    hx-swap="outerMorph"
    {...{ 'hx-status:5xx': 'swap:none' }}
  />
)

const ID = 'outdated'
export const OUTDATED_SLOT = `#${ID}`

/** The element in which `OutdatedNotice` appears. */
export const OutdatedSlot = () => <div id={ID} role="alert" />

/** Says that the open page is gone, or that the operator has lost access to it. Its input is kept. */
export const OutdatedNotice = () => (
  <Banner tone="warn" action={{ label: 'Reload', href: '' }}>
    This page no longer updates: it was deleted, you signed out, lost access, or your role changed.
  </Banner>
)
