/**
 * Begins a sign-in, and takes its form: checks the password, no more of them at once than there
 * are cores, stores session and event, and ends the flow, each answered once it is on disk, in a
 * transaction shared among the requests of a turn. No key is looked at, and nothing but the
 * password is checked. The flow is shown without its form.
 */
import { hash, randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { randomUUIDv7 } from 'bun'
import { openDatabase } from '../../src/db/open.ts'
import { createHashQueue } from '../../src/engines/gate/credentials/passwords/hash-queue.ts'
import { START } from '../support/sign-ins.ts'

const HOUR_MS = 3_600_000

const [dataDir = '', tenantId = ''] = process.argv.slice(2)
const { client, commit } = openDatabase({ dataDir, synchronous: 'full' })

const insertFlow = client.prepare(
  `INSERT INTO gate_flows (id, tenant_id, kind, state, requested_aal, is_refresh, tries, language,
     issued_at, updated_at, expires_at)
   VALUES (?1, ?2, 'login', 'choose_method', 'aal1', 0, 0, 'en', ?3, ?3, ?4)`,
)
const findFlow = client.prepare<{ completed_at: number | null }, [string]>(
  'SELECT * FROM gate_flows WHERE id = ?',
)
const endFlow = client.prepare(
  `UPDATE gate_flows SET state = 'passed_challenge', identity_id = ?2, completed_at = ?3,
     updated_at = ?3 WHERE id = ?1`,
)
const findPerson = client.prepare<{ id: string; traits: string; config: string }, [string, string]>(
  `SELECT i.id, i.traits, c.config FROM gate_identities i
   JOIN gate_credentials c ON c.identity_id = i.id AND c.type = 'password'
   WHERE i.tenant_id = ? AND i.email = ?`,
)
const insertSession = client.prepare(
  `INSERT INTO gate_sessions (id, tenant_id, identity_id, token_hash, generation, assurance_level,
     methods, authenticated_at, issued_at, expires_at)
   VALUES (?1, ?2, ?3, ?4, 0, 'aal1', '[{"method":"password","aal":"aal1"}]', ?5, ?5, ?6)`,
)
const insertEvent = client.prepare(
  `INSERT INTO messages (id, tenant_id, stream, type, payload, about, accepted_at)
   VALUES (?, ?, 'gate.live', 'identity.login', ?, ?, ?)`,
)
const { run } = createHashQueue({
  workers: availableParallelism(),
  capacity: Number.POSITIVE_INFINITY,
})

const unguessable = () => randomBytes(32).toString('base64url')

async function begin() {
  const id = randomUUIDv7()
  const now = Date.now()
  await commit(() => void insertFlow.run(id, tenantId, now, now + HOUR_MS))
  const csrf = { attributes: { name: 'csrf_token', value: unguessable() } }
  return { id, ui: { nodes: [csrf] } }
}

async function end(flow: string, { identifier, password }: Record<string, string>) {
  if (findFlow.get(flow)?.completed_at !== null) throw new Error('no open flow')
  const person = findPerson.get(tenantId, identifier as string)
  const { hashed_password: stored } = JSON.parse(person?.config ?? '{}')
  const isRight = await run({ tenantId }, 'ordinary', () =>
    Bun.password.verify(password as string, stored),
  )
  if (!person || !isRight) throw new Error('not signed in')
  const id = randomUUIDv7()
  const token = `gat_st_${unguessable()}`
  const now = Date.now()
  await commit(() => {
    insertSession.run(id, tenantId, person.id, hash('sha256', token), now, now + HOUR_MS)
    endFlow.run(flow, person.id, now)
    insertEvent.run(randomUUIDv7(), tenantId, JSON.stringify({ identifier }), person.id, now)
  })
  const identity = { id: person.id, traits: JSON.parse(person.traits) }
  return { session_token: token, session: { id, identity } }
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === START) return Response.json(await begin())
    const form = (await request.json()) as Record<string, string>
    return Response.json(await end(searchParams.get('flow') ?? '', form))
  },
})
console.log(JSON.stringify({ url: server.url.origin }))
