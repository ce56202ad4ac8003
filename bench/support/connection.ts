import type { Server } from './server.ts'

export interface Answered {
  status: number
  /** Whole seconds, where the server says when to come back. */
  retryAfter: number | undefined
  body: string
}

export type Connection = Awaited<ReturnType<typeof connect>>

/**
 * A connection that is kept open and answers one request after the other, each as text. Unlike
 * the clients of `load` it sleeps while it waits: all cores are the server's.
 */
export async function connect({ url }: Server) {
  const { hostname, port } = new URL(url)
  let received = ''
  let waiting: PromiseWithResolvers<Answered> | undefined
  const give = (answered: Answered) => {
    const { resolve } = waiting ?? {}
    waiting = undefined
    received = ''
    resolve?.(answered)
  }
  const fail = (error: Error) => waiting?.reject(error)
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, chunk) {
        received += chunk.toString('latin1')
        const answered = whole(received)
        if (answered) give(answered)
      },
      close: () => fail(new Error('the server closed the connection')),
      error: (_, error) => fail(error),
    },
  })

  function ask(request: string): Promise<Answered> {
    waiting = Promise.withResolvers()
    socket.write(request)
    return waiting.promise
  }

  return { ask, isBusy: () => waiting !== undefined, [Symbol.dispose]: () => void socket.end() }
}

/** An answer with a Content-Length, once it is there to its end. */
function whole(received: string): Answered | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = received.slice(0, end)
  const body = received.slice(end + 4)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error(`an answer without Content-Length: ${head}`)
  if (body.length < Number(length)) return undefined
  const wait = /\r\nretry-after: (\d+)/i.exec(head)?.[1]
  const retryAfter = wait === undefined ? undefined : Number(wait)
  return { status: Number(head.slice(9, 12)), retryAfter, body }
}
