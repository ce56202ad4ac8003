export type Listener = Awaited<ReturnType<typeof listen>>

/** Holds a stream open and keeps what arrives. */
export async function listen(url: string, headers: Record<string, string> = {}) {
  const ended = new AbortController()
  const response = await fetch(url, {
    headers: { accept: 'text/html, text/event-stream', ...headers },
    redirect: 'manual',
    signal: ended.signal,
  })
  const messages: { id: string; event: string; data: string }[] = []
  let comments = 0
  let isOver = false
  let change = Promise.withResolvers<void>()
  void read().catch(() => {})

  async function read() {
    const decoder = new TextDecoder()
    let text = ''
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true })
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) take(block.split('\n'))
        change.resolve()
      }
    } finally {
      isOver = true
      change.resolve()
    }
  }

  function take(lines: string[]) {
    comments += lines.filter((line) => line.startsWith(':')).length
    const valuesOf = (name: string) =>
      lines.filter((line) => line.startsWith(name)).map((line) => line.slice(name.length))
    const data = valuesOf('data: ').join('\n')
    const [[id = ''], [event = '']] = [valuesOf('id: '), valuesOf('event: ')]
    if (data !== '') messages.push({ id, event, data })
  }

  async function next() {
    await change.promise
    change = Promise.withResolvers()
  }

  return {
    status: response.status,
    headers: response.headers,
    messages,
    comments: () => comments,
    text: () => messages.map(({ data }) => data).join('\n'),
    lastId: () => messages.at(-1)?.id ?? '',
    /** Waits until a condition holds for what has arrived. */
    until: async (holds: () => boolean) => {
      while (!holds()) {
        if (isOver) throw new Error(`the stream ended: ${JSON.stringify(messages).slice(0, 500)}`)
        await next()
      }
    },
    /** Waits for the server to end it. */
    end: async () => {
      while (!isOver) await next()
    },
    leave: () => ended.abort(),
  }
}

export const streamIn = (html: string): string =>
  /hx-sse:connect="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
