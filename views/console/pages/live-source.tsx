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
