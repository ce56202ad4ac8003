import { command } from '../../support/binary.ts'

/** What a relay on this machine needs to deliver to this machine, as fast as it is asked to. */
export const RELAY_ARGS = [
  '--outbound-allow',
  '127.0.0.0/8',
  '--limits-requests-per-minute',
  '10000000',
]

export interface SentMessage {
  id: string
  event_type: string
}

export interface ListedDelivery {
  id: string
  message_id: string
  status: string
  attempts: number
}

export interface NewMessage {
  event_type: string
  payload: object
  idempotency_key?: string
}

/** A tenant's live key, by the command line: it works while servers run, and while none does. */
export async function newRelayKey(cwd: string): Promise<string> {
  const cli = async (...args: string[]) =>
    (await command({ cwd, args: [...args, '--json'] })).json()
  const { id } = await cli('tenant', 'create', '--name', 'Acme', '--plan', 'unlimited')
  const key = ['key', 'create', '--tenant', id, '--engine', 'relay', '--env', 'live']
  return (await cli(...key)).key
}

/** Speaks to one of the processes; they all answer for the same data. */
export function relayClient(key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

  /** Rejects with what `fetch` throws when the connection breaks before the answer is there. */
  async function post<T>(url: string, path: string, body: object, expected: number): Promise<T> {
    const answer = await fetch(`${url}/v1/relay${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (answer.status !== expected) throw new WrongAnswer(`${answer.status}: ${text}`)
    return JSON.parse(text)
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of several routes
  async function get(url: string, path: string): Promise<any> {
    const answer = await fetch(`${url}/v1/relay${path}`, { headers })
    if (answer.status !== 200) throw new WrongAnswer(`${answer.status}: ${await answer.text()}`)
    return await answer.json()
  }

  /** The whole of a list, page by page. */
  async function walk<T>(url: string, path: string): Promise<T[]> {
    const all: T[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { data: T[]; next_cursor: string | null } = await get(
        url,
        `${path}?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      all.push(...page.data)
      cursor = page.next_cursor
    }
    return all
  }

  return {
    createEndpoint: (url: string, endpoint: { url: string; event_types: string[] }) =>
      post<{ id: string }>(url, '/endpoints', endpoint, 201),
    send: (url: string, message: NewMessage) => post<SentMessage>(url, '/messages', message, 202),
    messages: (url: string) => walk<SentMessage>(url, '/messages'),
    deliveries: (url: string) => walk<ListedDelivery>(url, '/deliveries'),
    attempts: async (url: string, { id }: ListedDelivery): Promise<{ status: string }[]> =>
      (await get(url, `/deliveries/${id}`)).attempt_log,
  }
}

export type RelayClient = ReturnType<typeof relayClient>

/** The server did answer, and not as it should. */
export class WrongAnswer extends Error {}
