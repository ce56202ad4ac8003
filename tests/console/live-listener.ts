/** One message of a stream, as a browser takes it apart. */
export interface StreamMessage {
  id: string
  event: string
  data: string
}

/** Somebody who holds a stream open and writes down what comes. */
export async function listen(url: string, headers: Record<string, string> = {}) {
  const ended = new AbortController()
  const response = await fetch(url, {
    headers: { accept: 'text/html, text/event-stream', ...headers },
    redirect: 'manual',
    signal: ended.signal,
  })
  const messages: StreamMessage[] = []
  let text = ''
  let comments = 0
  let isOver = false
  let wake = () => {}
  void read().catch(() => {})

  async function read() {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true })
        const blocks = text.split('\n\n')
        text = blocks.pop() ?? ''
        for (const block of blocks) take(block)
        wake()
      }
    } finally {
      isOver = true
      wake()
    }
  }

  function take(block: string) {
    const message: StreamMessage = { id: '', event: '', data: '' }
    const data: string[] = []
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) comments++
      if (line.startsWith('data: ')) data.push(line.slice(6))
      if (line.startsWith('id: ')) message.id = line.slice(4)
      if (line.startsWith('event: ')) message.event = line.slice(7)
    }
    if (data.length > 0) messages.push({ ...message, data: data.join('\n') })
  }

  /** Waits until something holds of what has come. */
  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (isOver) throw new Error(`the stream has ended: ${JSON.stringify(messages).slice(0, 500)}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    messages,
    comments: () => comments,
    /** All that came, one after the other. */
    text: () => messages.map(({ data }) => data).join('\n'),
    lastId: () => messages.at(-1)?.id ?? '',
    until,
    /** Resolves when the server has ended it. */
    end: async () => {
      while (!isOver)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    },
    leave: () => ended.abort(),
  }
}

export type Listener = Awaited<ReturnType<typeof listen>>

/** Where the page's own stream goes on from what it shows. */
export const streamIn = (html: string): string =>
  /hx-sse:connect="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
