import { createApp } from '../../../src/app.ts'
import { openDatabase } from '../../../src/db/open.ts'
import type { IdentityRow } from '../../../src/engines/gate/identities/store.ts'
import { createStore } from '../../../src/engines/gate/store.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createOutbound } from '../../../src/platform/outbound/index.ts'
import { createPlatform } from '../../../src/platform/platform.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { command } from '../../support/binary.ts'
import { testConfig } from '../../support/config.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
type Json = any

/** What a server needs to tell webhooks on this machine, as fast as it is asked to. */
export const GATE_ARGS = [
  '--outbound-allow',
  '127.0.0.0/8',
  '--limits-requests-per-minute',
  '10000000',
]

export interface Answered {
  status: number
  body: Json
}

/** A tenant and a live key of it, by the command line. */
export async function newGateKey(cwd: string): Promise<{ tenantId: string; key: string }> {
  const cli = async (...args: string[]) =>
    (await command({ cwd, args: [...args, '--json'] })).json()
  const { id } = await cli('tenant', 'create', '--name', 'Acme')
  const made = ['key', 'create', '--tenant', id, '--engine', 'gate', '--env', 'live']
  return { tenantId: id, key: (await cli(...made)).key }
}

export type GateClient = ReturnType<typeof gateClient>

/** Speaks to one of the processes; they all answer for the same data. */
export function gateClient(key: string) {
  /** Rejects with what `fetch` throws when the connection breaks before the answer is there. */
  async function ask(
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }

  async function expecting(status: number, asked: Promise<Answered>): Promise<Json> {
    const answer = await asked
    if (answer.status !== status)
      throw new Error(`expected ${status}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** The whole of a list, page by page. */
  async function walk(url: string): Promise<Json[]> {
    const all: Json[] = []
    for (let cursor = ''; ; ) {
      const page = await expecting(200, ask('GET', `${url}?limit=100${cursor}`))
      all.push(...page.data)
      if (!page.has_more) return all
      cursor = `&cursor=${page.next_cursor}`
    }
  }

  const gate = (server: string) => `${server}/v1/gate`
  const person = (server: string, { id }: { id: string }) => `${gate(server)}/identities/${id}`

  return {
    createWebhook: (server: string, fields: { url: string; events?: string[] }) =>
      expecting(201, ask('POST', `${gate(server)}/settings/webhooks`, fields)),
    /** Whatever it is answered. */
    tryCreate: (server: string, email: string) =>
      ask('POST', `${gate(server)}/identities`, { schema_id: 'user', traits: { email } }),
    create: (server: string, email: string) =>
      expecting(
        201,
        ask('POST', `${gate(server)}/identities`, { schema_id: 'user', traits: { email } }),
      ),
    identities: (server: string) => walk(`${gate(server)}/identities`),
    deliveries: (server: string) => walk(`${gate(server)}/settings/webhooks/deliveries`),
    setState: (server: string, whose: { id: string }, state: string) =>
      expecting(200, ask('PATCH', `${person(server, whose)}/state`, { state })),
    remove: (server: string, whose: { id: string }) =>
      expecting(204, ask('DELETE', person(server, whose))),
    read: (server: string, whose: { id: string }) => ask('GET', person(server, whose)),
    /** The answer to a request for an access token. */
    mint: (server: string, { id: subject }: { id: string }) =>
      ask('POST', `${gate(server)}/tokens`, { api_key: key, subject }),
    introspect: (server: string, token: string) =>
      expecting(200, ask('POST', `${gate(server)}/tokens/introspect`, { access_token: token })),
    whoami: (server: string, token: string) =>
      ask('GET', `${gate(server)}/sessions/whoami`, undefined, { 'x-session-token': token }),
  }
}

/**
 * Opens a session for each identity, beside the servers that run on the data directory, as a
 * completed sign-in does. Returns the tokens.
 */
export async function signIn(dataDir: string, identityIds: string[]): Promise<string[]> {
  const db = openDatabase({ dataDir, synchronous: 'full' })
  const clock = systemClock
  const platform = createPlatform({
    db,
    clock,
    log: createLog({ level: 'error', format: 'json', now: clock.now, write: console.error }),
    outbound: createOutbound({ clock, allow: [], timeoutMs: 1000, maxResponseBytes: 1024 }),
    sealing: createSealing(await openKeyRing({ db, clock, dataDir })),
    keyPrefix: 'svc',
    metering: testConfig().metering,
    process: { version: 'test', host: 'test', pid: 1, isRunning: () => true },
  })
  const { gate } = createApp(platform, testConfig())
  const { identities } = createStore(db)
  const rowOf = (id: string) => identities.find(identities.ownerOf(id) as string, id) as IdentityRow
  const opened = await db.commit(() =>
    identityIds.map((id) =>
      gate.sessions.open(rowOf(id), {
        assuranceLevel: 'aal1',
        methods: [{ method: 'password', aal: 'aal1' }],
        ipAddress: null,
        userAgent: null,
      }),
    ),
  )
  db.close()
  return opened.map(({ token }) => token)
}
