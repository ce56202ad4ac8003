import { rateLimited, unavailable } from '../../platform/errors.ts'

const encoder = new TextEncoder()

/** Most bytes buffered for a client. */
const MAX_WAITING = 512 * 1024

export type Stream = ReturnType<typeof createStream>

/** A stream of server-sent events. Events for a client that reads too slowly are skipped, not buffered. */
export function createStream({ onClose }: { onClose: () => void }) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start: (opened) => {
        controller = opened
      },
      cancel: () => {
        controller = undefined
        onClose()
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING }),
  )

  /** False if the buffer is full. */
  function write(text: string): boolean {
    if (!controller || (controller.desiredSize ?? 0) <= 0) return false
    controller.enqueue(encoder.encode(text))
    return true
  }

  return {
    body,
    /** Keeps proxies from closing an idle connection. */
    keepAlive: () => write(':\n\n'),
    /** An event without a name, which htmx swaps. */
    send: (id: string, html: string) =>
      write(
        `id: ${id}\n${html
          .split(/\r\n|\r|\n/)
          .map((line) => `data: ${line}\n`)
          .join('')}\n`,
      ),
    /** Tells the page not to reconnect. */
    sendEvent: (event: string) => write(`event: ${event}\ndata: ${event}\n\n`),
    close() {
      const opened = controller
      controller = undefined
      opened?.close()
    },
  }
}

/** Headers that disable caching and buffering. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
} as const

const MAX_STREAMS = 256
const MAX_PER_SESSION = 8
/** Over all sessions of an operator. */
const MAX_PER_OPERATOR = 32

export interface Holder {
  sessionId: string
  operatorId: string
  tenantId: string
}

/**
 * The open stream that is closed so that `opener` can have one; undefined where there is room. Throws
 * when its session has 8, its operator 32, or all 256 are open and shared out fairly.
 *
 * When all are open, a tenant takes over a stream of the tenant that has the most, if that has at
 * least two more than itself. So each of T tenants can have 256 / T, rounded down, regardless of what the others
 * do. Each takeover makes the shares more even: pages that connect again never displace each other in
 * turn.
 */
export function displacedBy<Open extends Holder>(opener: Holder, open: Open[]): Open | undefined {
  const { sessionId, operatorId, tenantId } = opener
  if (open.filter((one) => one.sessionId === sessionId).length >= MAX_PER_SESSION)
    throw rateLimited(`this session already has ${MAX_PER_SESSION} live pages`)
  if (open.filter((one) => one.operatorId === operatorId).length >= MAX_PER_OPERATOR)
    throw rateLimited(`you already have ${MAX_PER_OPERATOR} live pages`)
  if (open.length < MAX_STREAMS) return undefined
  const shares = Map.groupBy(open, (one) => one.tenantId)
  const own = shares.get(tenantId)?.length ?? 0
  const largest = [...shares.values()].reduce((a, b) => (b.length > a.length ? b : a))
  if (largest.length < own + 2)
    throw unavailable(`the server already has ${MAX_STREAMS} live pages`)
  return largest.at(-1)
}
