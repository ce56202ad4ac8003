import type { Acknowledged } from './history.ts'
import type { Installation } from './installation.ts'
import type { Target } from './target.ts'

export interface Request {
  path: string
  apiKey?: string
  body?: object | string
  /** What the operation is found by, if not by the id in the answer. */
  key?: string
}

/** One of the things that clients do. */
export interface Kind {
  name: string
  isWrite: boolean
  /** How many of a hundred operations are of this kind. */
  share: number
  request: () => Request
  /** What it is found by, in the answer. */
  keyIn?: (answer: Record<string, unknown>) => unknown
  /** The path of what an operation has made. */
  pathOf?: (key: string) => Request
  /** Whether the answer to a request for that path says that it is there. */
  isThere?: (answer: Record<string, unknown>) => boolean
}

/** Time until a job is due. */
const DUE_MS = 2000

/** What clients do in all engines. */
export function createKinds(installation: Installation, target: Target): Kind[] {
  const { keys, subject, token, monitors } = installation
  let count = 0
  const unique = () => `${Date.now().toString(36)}-${count++}`

  return [
    {
      name: 'event',
      isWrite: true,
      share: 35,
      request: () => ({
        path: '/v1/relay/messages',
        apiKey: keys.relay,
        body: { event_type: 'invoice.paid', payload: { id: unique(), total: 129.9 } },
      }),
      pathOf: (id) => ({ path: `/v1/relay/messages/${id}`, apiKey: keys.relay }),
    },
    {
      name: 'job',
      isWrite: true,
      share: 10,
      request: () => {
        const name = unique()
        const run_at = new Date(Date.now() + DUE_MS).toISOString()
        return {
          path: '/v1/clockwork/delayed',
          apiKey: keys.clockwork,
          body: { name, run_at, url: target.jobUrl(name) },
        }
      },
      keyIn: ({ id, name }) => `${id}/${name}`,
      pathOf: (key) => ({
        path: `/v1/clockwork/delayed/${key.split('/')[0]}`,
        apiKey: keys.clockwork,
      }),
    },
    {
      name: 'user',
      isWrite: true,
      share: 10,
      request: () => ({
        path: '/v1/gate/identities',
        apiKey: keys.gate,
        body: { schema_id: 'user', traits: { email: `${unique()}@example.com` } },
      }),
      pathOf: (id) => ({ path: `/v1/gate/identities/${id}`, apiKey: keys.gate }),
    },
    {
      name: 'token',
      isWrite: true,
      share: 5,
      request: () => ({
        path: '/v1/gate/tokens',
        body: { api_key: keys.gate, subject, ttl_seconds: 86_400 },
      }),
      keyIn: ({ access_token }) => access_token,
      pathOf: (access_token) => introspection(access_token),
      isThere: ({ active }) => active === true,
    },
    {
      name: 'introspection',
      isWrite: false,
      share: 15,
      request: () => ({ ...introspection(token), key: token }),
    },
    {
      name: 'sign-in',
      isWrite: true,
      share: 10,
      request: () => ({
        path: '/v1/passepartout/login/start',
        apiKey: keys.passepartout,
        body: { client: { label: 'Web shop' } },
      }),
      keyIn: ({ nonce }) => nonce,
      pathOf: (nonce) => ({
        path: `/v1/passepartout/login/status?nonce=${nonce}`,
        apiKey: keys.passepartout,
      }),
      isThere: ({ status }) => status === 'pending',
    },
    {
      name: 'ping',
      isWrite: true,
      share: 15,
      request: () => {
        const body = unique()
        const monitor = monitors[count % monitors.length]
        return { path: monitor?.path ?? '/', body, key: `${monitor?.id}/${body}` }
      },
    },
  ]

  function introspection(access_token: string): Request {
    return { path: '/v1/gate/tokens/introspect', apiKey: keys.gate, body: { access_token } }
  }
}

/** Chooses kinds by their shares. */
export function createChoice(kinds: readonly Kind[]): () => Kind {
  const hundred = kinds.flatMap((kind) => Array.from({ length: kind.share }, () => kind))
  return () => hundred[Math.floor(Math.random() * hundred.length)] as Kind
}

/** The writes of each kind. */
export const byKind = (operations: readonly Acknowledged[]) =>
  Map.groupBy(operations, ({ kind }) => kind)
