const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const WEBHOOK_ID = /\r\nwebhook-id: ([^\r]+)\r\n/i
const POLL_MS = 5
const TIMEOUT_MS = 10_000

export type Receiver = ReturnType<typeof listen>

/**
 * Receives deliveries in this process, which shares its clock with the senders of the events, and records
 * when the first byte of each was there. On bare sockets, which stay open for further deliveries.
 */
export function listen(stack: AsyncDisposableStack) {
  const arrivals = new Map<string, number>()
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, chunk) {
        const now = performance.now()
        const id = WEBHOOK_ID.exec(chunk.toString('latin1'))?.[1]
        if (id === undefined) return
        if (!arrivals.has(id)) arrivals.set(id, now)
        socket.write(ANSWER)
      },
    },
  })
  stack.defer(() => listener.stop(true))

  /** Once all of them are there, in the order of the ids. */
  async function arrivalsOf(ids: string[]): Promise<number[]> {
    const deadline = performance.now() + TIMEOUT_MS
    while (!ids.every((id) => arrivals.has(id))) {
      if (performance.now() > deadline) throw new Error('a delivery did not arrive')
      await Bun.sleep(POLL_MS)
    }
    return ids.map((id) => arrivals.get(id) as number)
  }

  return { url: `http://127.0.0.1:${listener.port}/hook`, arrivalsOf }
}
