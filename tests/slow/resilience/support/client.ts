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

/** True for errors of `fetch` when the connection breaks. */
export const isBroken = (error: unknown) => error instanceof Error && 'code' in error

/** Sends JSON with a key to any of the processes. Rejects when the connection breaks. */
export function clientOf(key: string) {
  let metered = 0

  async function ask(
    { url }: Place,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const answer = await fetch(url + path, {
      method,
      headers: {
        accept: 'application/json',
        ...(path.startsWith('/v1/') && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const { status } = answer
    if (status < 500 && !NOT_METERED.includes(status)) metered++
    const text = await answer.text()
    return { status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
  }

  /** Sends a request that has to succeed. */
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

  /** How many requests count for the month of the tenant. */
  return { key, ask, make, walk, metered: () => metered }
}
