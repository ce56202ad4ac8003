const encoder = new TextEncoder()

/** Nobody reads a stream that holds more than this. */
const MOST_WAITING = 512 * 1024

export type Stream = ReturnType<typeof createStream>

/**
 * One answer that goes on: server-sent events. Who reads too slowly is left out until they have
 * caught up, so that nothing piles up here.
 */
export function createStream({ onClose }: { onClose: () => void }) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given
      },
      cancel: () => {
        controller = undefined
        onClose()
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING }),
  )

  /** False where it has to be tried again later. */
  function write(text: string): boolean {
    if (!controller || (controller.desiredSize ?? 0) <= 0) return false
    controller.enqueue(encoder.encode(text))
    return true
  }

  return {
    body,
    /** Keeps what is between us from taking the connection for dead. */
    beat: () => write(':\n\n'),
    /** Without a name, so that htmx swaps it. */
    send: (id: string, html: string) =>
      write(
        `id: ${id}\n${html
          .split(/\r\n|\r|\n/)
          .map((line) => `data: ${line}\n`)
          .join('')}\n`,
      ),
    /** Tells the page not to come again. */
    say: (event: string) => write(`event: ${event}\ndata: ${event}\n\n`),
    close() {
      const given = controller
      controller = undefined
      given?.close()
    },
  }
}

/** As proxies and caches have to be told. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
} as const
