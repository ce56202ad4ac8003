import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { databaseFile, openDatabase } from '../../../../../src/db/open.ts'
import { systemClock } from '../../../../../src/platform/clock.ts'
import { createBodies } from '../../../../../src/platform/mail/body.ts'
import { createSealing } from '../../../../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../../../../src/platform/sealing/open-key-ring.ts'
import { startServer } from '../../../../support/binary.ts'
import { temporaryFolder } from '../../../../support/folder.ts'
import type { Json } from '../../fixture.ts'
import { type Answered, GATE_ARGS, newGateKey } from '../../processes.ts'
import { AUTH, csrfOf, pathOf } from './fixture.ts'

/** Cheap password hashes, and no limits on attempts from one address. */
const FLOW_ARGS = [
  ...GATE_ARGS,
  ...['--gate-password-memory', '8MB', '--gate-password-iterations', '1'],
  ...['--limits-sign-ins-per-minute', '1000000'],
  ...['--limits-sign-ins-per-identifier-per-minute', '1000000'],
]

export type Installation = Awaited<ReturnType<typeof openInstallation>>

/** A data directory with one tenant and a process that serves it; others are added by `serve`. */
export async function openInstallation(stack: AsyncDisposableStack, ...args: string[]) {
  const { path: cwd } = stack.use(temporaryFolder())

  /** Starts one more process, which ends with the stack. */
  const serve = async (...args: string[]) =>
    stack.use(await startServer({ cwd, args: [...FLOW_ARGS, ...args] }))

  const first = await serve(...args)
  const { tenantId, key } = await newGateKey(cwd)
  const client = flowClient(key)
  const switches = { passwordless_enabled: true, mfa_enabled: true }
  const switched = await client.ask(first.url, 'PUT', '/v1/gate/settings/security', switches)
  if (switched.status !== 200) throw new Error(`answered ${JSON.stringify(switched)}`)
  const codesTo = await openOutbox(join(cwd, 'data'))
  return { first, serve, tenantId, key, codesTo, ...client }
}

/** Reads the codes in the mails to an address, which are never sent. */
async function openOutbox(dataDir: string) {
  const db = openDatabase({ dataDir, synchronous: 'full' })
  const { open } = createBodies(
    createSealing(await openKeyRing({ db, clock: systemClock, dataDir })),
  )
  db.close()

  return (address: string): string[] => {
    using client = new Database(databaseFile(dataDir), { readonly: true })
    return client
      .query<{ id: string; body: string }, [string]>(
        'SELECT id, body FROM mails WHERE recipient = ? AND body IS NOT NULL ORDER BY seq',
      )
      .all(address)
      .flatMap(({ id, body }) => /^ {4}(\d{6})$/m.exec(open(id, body).text)?.[1] ?? [])
  }
}

/** A client of flows, for any of the processes. */
function flowClient(key: string) {
  /** Rejects if the connection breaks before the response. */
  async function ask(
    server: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const answer = await fetch(server + path, {
      method,
      keepalive: false,
      headers: {
        accept: 'application/json',
        ...(path.startsWith('/v1/') && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: await answer.json() }
  }

  async function well(asked: Promise<Answered>): Promise<Json> {
    const { status, body } = await asked
    if (status !== 200 && status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`)
    return body
  }

  const start = (server: string, kind: string, token?: string): Promise<Json> =>
    well(ask(server, 'GET', `${AUTH}/${kind}`, undefined, tokenHeader(token)))

  /** Sends a form to its action, at any of the processes. */
  const send = (server: string, flow: Json, fields: Json, token?: string): Promise<Answered> =>
    ask(
      server,
      'POST',
      pathOf(flow.ui.action),
      { csrf_token: csrfOf(flow), ...fields },
      tokenHeader(token),
    )

  return {
    ask,
    start,
    send,
    /** Reads a flow that another one led to. */
    read: (server: string, url: string, token?: string): Promise<Json> =>
      well(ask(server, 'GET', pathOf(url), undefined, tokenHeader(token))),
    tryPassword: async (server: string, identifier: string, password: string) =>
      send(server, await start(server, 'login'), { method: 'password', identifier, password }),
    /** Creates an identity, without a mail. */
    create: (server: string, email: string, fields: Json = {}): Promise<Json> =>
      well(
        ask(server, 'POST', '/v1/gate/identities', {
          schema_id: 'user',
          traits: { email },
          ...fields,
        }),
      ),
    whoami: (server: string, token: string) =>
      ask(server, 'GET', '/v1/gate/sessions/whoami', undefined, tokenHeader(token)),
  }
}

const tokenHeader = (token?: string): Record<string, string> =>
  token === undefined ? {} : { 'x-session-token': token }

/** The ids of a flow's errors, each once. */
export function errorsIn({ body }: Answered): number[] {
  const beside = (body.ui?.nodes ?? []).flatMap(({ messages }: Json) => messages)
  const errors = [...(body.ui?.messages ?? []), ...beside].filter(({ type }) => type === 'error')
  return [...new Set<number>(errors.map(({ id }) => id))]
}
