import type { Database } from 'bun:sqlite'
import { mintSecret, sha256 } from '../../src/platform/crypto.ts'
import type { Plan } from '../../src/platform/tenants.ts'
import { addCopies, copyIds } from './copies.ts'
import { openEngine } from './engine.ts'
import { createInstallation, type Installation, issueKey } from './installation.ts'

export const INTROSPECT = '/v1/gate/tokens/introspect'
export const WHOAMI = '/v1/gate/sessions/whoami'
export const AUTHORIZE = '/v1/gate/authorize'

/** So many people, and as many sessions and access tokens, are asked about in turn. */
const KNOWN = 1000

/** What a person's `metadata_public.roles` has. */
export const ROLE = 'team-0'

/** An installation with one tenant whose users have each signed in once and have access tokens. */
export interface GateInstallation extends Installation {
  tenantId: string
  key: string
  people: string[]
  sessions: string[]
  /** Some of those that are stored, from everywhere among them. */
  tokens: string[]
}

/** The first person, session and token are made by the program; the others are copies. */
export async function createGateInstallation(
  stack: AsyncDisposableStack,
  tokens = KNOWN,
  plan: Plan = 'unlimited',
): Promise<GateInstallation> {
  const installation = await createInstallation(stack, 1, plan)
  const owner = await issueKey(installation, 'gate')
  await using inside = new AsyncDisposableStack()
  const engine = await openEngine(inside, installation)
  const { client } = engine.db
  const first = await signUp(engine, owner)
  const people = copyPeople(client, first)
  copyTokens(client, { of: sha256(first.token), count: tokens - 1, subject: people.copy })
  return {
    ...installation,
    ...owner,
    people: people.ids,
    sessions: knownTokens(client, 'gat_st_', 'gate_sessions', 'token_hash'),
    tokens: knownTokens(client, 'gat_live_at_', 'gate_access_tokens', 'hash'),
  }
}

type Engine = Awaited<ReturnType<typeof openEngine>>

async function signUp(
  { app, gate, db }: Engine,
  { tenantId, key }: Pick<GateInstallation, 'tenantId' | 'key'>,
) {
  async function post(path: string, body: object) {
    const request = new Request(`http://localhost${path}`, postOf(key, body))
    const answer = await app.fetch(request)
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return await answer.json()
  }
  const { id } = await post('/v1/gate/identities', PERSON)
  const { access_token: token } = await post('/v1/gate/tokens', { api_key: key, subject: id })
  const person = gate.people.existing(tenantId, id)
  const { session } = await db.commit(() => gate.sessions.open(person, SIGN_IN))
  return { id, token, session: session.id }
}

const PERSON = {
  schema_id: 'user',
  traits: { email: 'ada@example.com', custom_data: { plan: 'pro', locale: 'en-GB' } },
  metadata_public: { roles: [ROLE], department: 'Research' },
}

const SIGN_IN = {
  assuranceLevel: 'aal1' as const,
  methods: [{ method: 'password', aal: 'aal1' as const }],
  ipAddress: '192.0.2.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0',
}

/** Each with an address and a session. `copy` is SQL for the id of one of the copies. */
function copyPeople(client: Database, { id, session }: { id: string; session: string }) {
  const count = KNOWN - 1
  const copy = copyIds()
  const email = "'person-' || i || '@example.com'"
  const traits = `json_set(row.traits, '$.email', ${email})`
  addCopies(client, {
    table: 'gate_identities',
    of: id,
    count,
    columns: { id: copy(), email, traits },
  })
  addCopies(client, {
    table: 'gate_addresses',
    of: id,
    by: 'identity_id',
    count,
    columns: { id: copyIds()(), identity_id: copy(), value: email },
  })
  addCopies(client, {
    table: 'gate_sessions',
    of: session,
    count,
    columns: { id: copyIds()(), identity_id: copy(), token_hash: HASH },
  })
  const rows = client.query<{ id: string }, []>('SELECT id FROM gate_identities').all()
  return { ids: rows.map(({ id }) => id), copy: copy(`i % ${count}`) }
}

function copyTokens(
  client: Database,
  { of, count, subject }: { of: string; count: number; subject: string },
) {
  const columns = { hash: HASH, subject }
  addCopies(client, { table: 'gate_access_tokens', of, by: 'hash', count, columns })
}

/** SQL for the hash of a random, unknown token. */
const HASH = 'lower(hex(randomblob(32)))'

/** Tokens that are known: their hashes replace others, evenly all over the table. */
function knownTokens(client: Database, prefix: string, table: string, column: string): string[] {
  const tokens = Array.from({ length: KNOWN }, () => prefix + mintSecret())
  const { rows } = client.query(`SELECT max(seq) AS rows FROM ${table}`).get() as { rows: number }
  const update = client.prepare(`UPDATE ${table} SET ${column} = ? WHERE seq = ?`)
  const write = client.transaction(() => {
    for (const [n, token] of tokens.entries())
      update.run(sha256(token), 1 + Math.floor((n * rows) / KNOWN))
  })
  write()
  return tokens
}

/** A request of JSON, as `fetch` takes it. */
export const postOf = (key: string, body: object, method = 'POST'): RequestInit => ({
  method,
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
