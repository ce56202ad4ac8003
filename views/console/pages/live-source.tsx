/** What ends a stream for good, as the server calls it. */
export const OVER = 'over'

/**
 * Keeps parts of a page up to date, where scripts run: what the stream sends says where it goes. It is
 * another element for each state, so that whatever replaces the page begins a stream of its own.
 */
export const LiveSource = ({ href, shownId }: { href: string; shownId: string }) => (
  <div
    id={`live-${shownId}`}
    hidden
    {...{ 'hx-sse:connect': href, 'hx-sse:close': OVER, 'hx-swap': 'none' }}
  />
)
