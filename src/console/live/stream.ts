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
