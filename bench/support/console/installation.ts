import { attempts, endpointHours } from '../../../src/delivery/schema.ts'
import { executions } from '../../../src/engines/clockwork/schema.ts'
import { gateDecisions } from '../../../src/engines/gate/schema.ts'
import { passepartoutPeople } from '../../../src/engines/passepartout/schema.ts'
import { newId } from '../../../src/platform/ids.ts'
import { type Engine, openEngine } from '../engine.ts'
import { postOf } from '../gate.ts'
import { createInstallation, issueKey } from '../installation.ts'
import { cronJob, delayedJob } from '../jobs.ts'
import { event } from '../relay.ts'
import { addOperator } from './operator.ts'

/** Of everything that the console lists the first: what is behind its pages are copies of them. */
export interface ConsoleInstallation {
  engine: Engine
  /** The tenant whose pages are opened, and another one with as much data. */
  tenants: [mine: string, neighbours: string]
  operator: Awaited<ReturnType<typeof addOperator>>
  first: Awaited<ReturnType<typeof addFirsts>>
}

/** Open in this process, with nothing going on by itself. */
export async function openConsoleInstallation(
  stack: AsyncDisposableStack,
): Promise<ConsoleInstallation> {
  const installation = await createInstallation(stack, 2)
  const keys = {
    gate: (await issueKey(installation, 'gate')).key,
    relay: (await issueKey(installation, 'relay')).key,
    passepartout: (await issueKey(installation, 'passepartout', 'test')).key,
  }
  const engine = await openEngine(stack, installation, { isPaused: true })
  const [mine = { id: '', key: '' }, neighbour = mine] = installation.residents
  const tenants: ConsoleInstallation['tenants'] = [mine.id, neighbour.id]
  const operator = await addOperator(engine, tenants)
  const first = await addFirsts(engine, mine, keys)
  return { engine, tenants, operator, first }
}

async function addFirsts(
  engine: Engine,
  mine: { id: string; key: string },
  keys: Record<'gate' | 'relay' | 'passepartout', string>,
) {
  const { app, db, gate, clockwork, passepartout, mail, callerOf } = engine
  const tenantId = mine.id
  const caller = callerOf(mine.key)

  async function post(path: string, key: string, body: object): Promise<{ id: string }> {
    const answer = await app.fetch(new Request(`http://localhost${path}`, postOf(key, body)))
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as { id: string }
  }

  const identity = await post('/v1/gate/identities', keys.gate, PERSON)
  const person = gate.people.existing(tenantId, identity.id)
  const { session } = await db.commit(() => gate.sessions.open(person, SIGN_IN))
  const job = await clockwork.jobs.create(caller, cronJob(0))
  const delayed = await clockwork.delayed.create(caller, {
    ...delayedJob('https://example.com/hook', Date.now() + DAY_MS),
    method: 'POST',
  })
  await passepartout.bots.enable(ACTOR, { tenantId, environment: 'test' })
  await post('/v1/passepartout/login/start', keys.passepartout, { client: CLIENT })
  const target = { url: 'https://hooks.example.com/in', active: false }
  const endpoint = await post('/v1/relay/endpoints', keys.relay, target)
  const message = await post('/v1/relay/messages', keys.relay, event(0))
  const mailId = await db.commit(() => mail.post({ ...LETTER, tenantId }, Date.now()))
  return {
    identity: identity.id,
    session: session.id,
    job: job.id,
    delayed: delayed.id,
    endpoint: endpoint.id,
    message: message.id,
    mail: mailId,
    login: firstOf(engine, 'passepartout_attempts', 'id'),
    key: firstOf(engine, 'api_keys', 'id'),
    audited: firstOf(engine, 'audit_log', 'seq'),
    membership: firstOf(engine, 'console_memberships', 'rowid'),
    ...addAnswers(engine, { tenantId, jobId: job.id, endpointId: endpoint.id }),
  }
}

/** What takes a target or a messenger to come into being. */
function addAnswers(
  engine: Engine,
  { tenantId, jobId, endpointId }: Record<'tenantId' | 'jobId' | 'endpointId', string>,
) {
  const { orm } = engine.db
  const now = Date.now()
  const [execution, attempt, user, decision] = [newId(), newId(), newId(), newId()]
  const deliverySeq = Number(firstOf(engine, 'deliveries', 'seq'))
  orm
    .insert(executions)
    .values({
      id: execution,
      tenantId,
      jobId,
      trigger: 'schedule',
      status: 'success',
      attempt: 1,
      slotAt: now,
      latenessMs: 12,
      startedAt: now,
      completedAt: now + 84,
      durationMs: 84,
      responseStatus: 200,
      responseBody: ANSWER,
      address: '192.0.2.9',
      timings: TIMINGS,
    })
    .run()
  orm
    .insert(attempts)
    .values({
      id: attempt,
      tenantId,
      deliverySeq,
      run: 1,
      number: 1,
      trigger: 'schedule',
      status: 'succeeded',
      startedAt: now,
      durationMs: 84,
      url: 'https://hooks.example.com/in',
      requestHeaders: '{"content-type":"application/json","user-agent":"Gatehouse"}',
      address: '192.0.2.9',
      timings: TIMINGS,
      responseStatus: 200,
      responseHeaders: '[["content-type","application/json"]]',
      responseBody: ANSWER,
    })
    .run()
  orm
    .insert(passepartoutPeople)
    .values({
      id: user,
      tenantId,
      platform: 'telegram',
      platformUserId: '1',
      username: 'ada',
      firstName: 'Ada',
      lastName: 'Berg',
      languageCode: 'en',
      createdAt: now,
      updatedAt: now,
    })
    .run()
  orm
    .insert(gateDecisions)
    .values({
      id: decision,
      tenantId,
      environment: 'live',
      keyId: newId(),
      at: now,
      subject: 'user:1',
      action: 'document.read',
      resource: 'document:42',
      context: '{}',
      isAllowed: true,
      reason: 'allowed by policy0',
      policies: '["policy0"]',
      policiesVersion: 0,
    })
    .run()
  orm
    .insert(endpointHours)
    .values({
      endpointId,
      hour: now - (now % HOUR_MS),
      succeeded: 118,
      failed: 2,
      exhausted: 0,
      cancelled: 0,
      durationMs: 9840,
      slowestMs: 912,
      upTo100: 90,
      upTo300: 20,
      upTo1000: 8,
      upTo3000: 0,
    })
    .run()
  return { execution, attempt, user, decision, deliverySeq }
}

function firstOf({ db }: Engine, table: string, column: string): string {
  const row = db.client.query<{ value: string | number }, []>(
    `SELECT ${column} AS value FROM ${table} ORDER BY rowid LIMIT 1`,
  )
  return `${row.get()?.value}`
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ACTOR = { kind: 'cli', source: 'bench' } as const
const ANSWER = JSON.stringify({ received: true, queue: 'invoices', position: 42 })
const TIMINGS = '{"dns":1,"connect":4,"tls":12,"wait":61,"read":6}'

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0'
const CLIENT = { ip: '192.0.2.7', user_agent: AGENT, label: 'Web shop' }
const PERSON = {
  schema_id: 'user',
  traits: { email: 'person@example.com', custom_data: { plan: 'pro', locale: 'en-GB' } },
  metadata_public: { roles: ['editor'], department: 'Research' },
}
const SIGN_IN = {
  assuranceLevel: 'aal1' as const,
  methods: [{ method: 'password', aal: 'aal1' as const }],
  ipAddress: CLIENT.ip,
  userAgent: AGENT,
}
const LETTER = {
  about: null,
  kind: 'verification',
  recipient: 'person@example.com',
  subject: 'Your code',
  text: 'The code is 482913.',
  html: '<p>The code is <b>482913</b>.</p>',
  expiresAt: Date.now() + 30 * DAY_MS,
}
