export interface ReceivedRequest {
  method: string
  path: string
  headers: Headers
  body: string
}

/** How a target answers; a number is the status of an answer without a body. */
type Answer = number | ((request: ReceivedRequest) => Response | Promise<Response>)

export type Target = Awaited<ReturnType<typeof startTarget>>

/** A real HTTP server on loopback that keeps what it receives. */
export function startTarget(answer: Answer = () => new Response('ok')) {
  const requests: ReceivedRequest[] = []
  const target = { answer, headers: {} as Record<string, string> }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // A request may be held for as long as a test likes.
    idleTimeout: 0,
    async fetch(request) {
      const { method, headers } = request
      const { pathname, search } = new URL(request.url)
      const received = { method, path: pathname + search, headers, body: await request.text() }
      requests.push(received)
      const { answer } = target
      if (typeof answer === 'function') return answer(received)
      return new Response('', { status: answer, headers: target.headers })
    },
  })

  /** From now on answers like this. */
  const answers = (answer: Answer, headers: Record<string, string> = {}) =>
    void Object.assign(target, { answer, headers })

  /** Keeps callers waiting until the test releases their answers. */
  function hold() {
    const waiting: ((response: Response) => void)[] = []
    const noticing: (() => void)[] = []
    answers(() => {
      for (const notice of noticing.splice(0)) notice()
      return new Promise((resolve) => waiting.push(resolve))
    })
    return {
      /** Resolves when the target has been called `count` times in all. */
      arrived: async (count: number) => {
        while (requests.length < count)
          await new Promise<void>((resolve) => void noticing.push(resolve))
      },
      /** Answers the callers that wait, oldest first. */
      release: (status = 200, count = waiting.length) => {
        for (const answer of waiting.splice(0, count)) answer(new Response('late', { status }))
      },
    }
  }

  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    requests,
    answers,
    hold,
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
