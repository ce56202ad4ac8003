// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
export type Json = any

export interface Answered {
  status: number
  body: Json
  headers: Headers
}

interface Place {
  url: string
}

export type Client = ReturnType<typeof clientOf>

const NOT_METERED = [401, 402, 403, 429]

/** Speaks with one key to whichever of the processes. Rejects when the connection breaks. */
export function clientOf(key: string) {
  let metered = 0

  async function ask({ url }: Place, method: string, path: string, body?: unknown) {
    const answer = await fetch(url + path, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { status, headers } = answer
    if (status < 500 && !NOT_METERED.includes(status)) metered++
    const text = await answer.text()
    return { status, headers, body: text === '' ? null : JSON.parse(text) } satisfies Answered
  }

  /** What has to work for the test to go on. */
  async function make(at: Place, method: string, path: string, body?: unknown): Promise<Json> {
    const answer = await ask(at, method, path, body)
    if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** All rows of a list that comes in pages. */
  async function walk(at: Place, path: string): Promise<Json[]> {
    const all: Json[] = []
    for (let cursor = ''; ; ) {
      const { data, next_cursor } = await make(at, 'GET', `${path}?limit=100${cursor}`)
      all.push(...data)
      if (!next_cursor) return all
      cursor = `&cursor=${next_cursor}`
    }
  }

  return {
    ask,
    make,
    walk,
    /** How many of its requests count for the month of the tenant. */
    metered: () => metered,
  }
}
