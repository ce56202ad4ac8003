export interface ReceivedRequest {
  method: string
  path: string
  headers: Headers
  body: string
}

type Answer = (request: ReceivedRequest) => Response | Promise<Response>

export type Target = Awaited<ReturnType<typeof startTarget>>

/** A real HTTP server on loopback that writes down what it is sent. */
export function startTarget(answer: Answer = () => new Response('ok')) {
  const requests: ReceivedRequest[] = []
  const target = { answer }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // A request may be held for as long as a test likes.
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const received = {
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        body: await request.text(),
      }
      requests.push(received)
      return target.answer(received)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    requests,
    /** From now on answers like this. */
    answers: (next: Answer) => {
      target.answer = next
    },
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
