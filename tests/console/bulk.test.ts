import { expect, test } from 'bun:test'
import { bulk } from '../../src/console/bulk.ts'
import type { PageContext } from '../../src/console/page.tsx'
import { StorageError } from '../../src/db/errors.ts'
import { UNKNOWN_ID, useConsole } from './fixture.ts'

const app = await useConsole()

const selected = (...ids: string[]) => ids.map((id) => ['ids[]', id])

test('An action on selected rows changes each by its own rule, with an audit entry of its own', async () => {
  const acme = await app.newTenant()
  const [one, two, three] = [await acme.job(), await acme.job(), await acme.job()]
  const member = await acme.as('member')
  const paused = await member.send('/jobs/selected/pause?q=report&sort=x', selected(one, two, one))
  expect([paused.status, paused.location]).toEqual([
    303,
    '/console/jobs?done=jobs-selected-pause.many&q=report&sort=x&count=2',
  ])
  expect((await member.follow(paused)).says('2 jobs paused.').rows).toEqual([three, two, one])
  expect(member.audited('job.updated')).toEqual([`job:${one}`, `job:${two}`])
  const states = async () =>
    Promise.all(
      [one, two, three].map(async (id) => (await acme.api.get(`/v1/clockwork/jobs/${id}`)).body),
    )
  expect((await states()).map(({ is_active }) => is_active)).toEqual([false, false, true])
})

test('Rows that refuse are reported with the reason and stay selected', async () => {
  const acme = await app.newTenant()
  const later = { name: 'later', run_at: '2027-01-01T00:00:00Z', url: acme.target.url }
  const add = async () => (await acme.api.post('/v1/clockwork/delayed', later)).body.id as string
  const [one, two] = [await add(), await add()]
  await acme.owner.send(`/delayed/${one}/cancel`)
  const page = await acme.owner.send(
    '/delayed/selected/cancel?status=cancelled',
    selected(one, two, UNKNOWN_ID),
  )
  page.says('1 delayed job cancelled. 2 delayed jobs not cancelled:')
  expect([page.status, page.rows]).toEqual([200, [two, one]])
  expect(page.html).toMatch(new RegExp(`name="ids\\[\\]" value="${one}" checked`))
  expect(page.html).not.toMatch(new RegExp(`value="${two}" checked`))
  ;(await acme.owner.send('/delayed/selected/cancel')).says('Select a delayed job first.')
  const many = Array.from({ length: 101 }, (_, n) => `${n}`)
  expect((await acme.owner.send('/delayed/selected/cancel', selected(...many))).status).toBe(400)
})

test.each([
  [['a', 'full', 'b'], '2 jobs paused. 1 job not paused: The disk is full.'],
  [['full'], new StorageError('the disk is full')],
  [['a', 'bug'], new TypeError('a bug')],
])(
  'An action on %j, where the disk is full or a bug strikes, ends with %s',
  async (ids, expected) => {
    const changed: string[] = []
    async function each(_: PageContext, id: string) {
      if (id === 'bug') throw new TypeError('a bug')
      if (id === 'full') throw new StorageError('the disk is full')
      await Bun.sleep(0)
      changed.push(id)
    }
    const { run } = bulk({
      right: 'change',
      verb: 'Pause',
      noun: ['job', 'jobs'],
      done: 'paused',
      each,
    })
    const context = { fields: { ids }, query: {} } as unknown as PageContext
    const result = await Promise.resolve(run(context)).catch((error: unknown) => error)
    if (typeof expected === 'string') expect(result).toMatchObject({ report: { text: expected } })
    else expect(result).toEqual(expected)
    expect(changed).toEqual(ids.filter((id) => id.length === 1))
  },
)

test('Selected sessions of a user end, and no others', async () => {
  const acme = await app.newTenant()
  const open = async (name: string) => {
    const user = { schema_id: 'user', traits: { email: `${name}@example.com` } }
    const { id } = (await acme.gate.post('/v1/gate/identities', user)).body
    const methods = [{ method: 'password' as const, aal: 'aal1' as const }]
    const signIn = { assuranceLevel: 'aal1' as const, methods, ipAddress: null, userAgent: null }
    const session = () =>
      app.db.commit(() => app.gate.sessions.open(app.gate.people.existing(acme.id, id), signIn))
    return { id, sessions: [(await session()).session.id, (await session()).session.id] }
  }
  const [ada, bob] = [await open('ada'), await open('bob')]
  const [first = '', second = ''] = ada.sessions
  const [ofBob = ''] = bob.sessions
  const path = `/identities/${ada.id}`
  const member = await acme.as('member')
  const page = await member.send(`${path}/sessions/selected/revoke`, selected(first, ofBob))
  page.says('1 session ended. 1 session not ended: Session not found, or already ended.')
  expect(member.audited('session.revoked')).toEqual([`session:${first}`])
  const alive = [first, second, ofBob].map((id) => app.gate.sessions.alive(acme.id, id)?.id)
  expect(alive).toEqual([undefined, second, ofBob])
  const viewer = await acme.as('viewer')
  ;(await viewer.open(path)).omits('End sessions')
  const refused = await viewer.send(`${path}/sessions/selected/revoke`, selected(second))
  expect(refused.status).toBe(403)
})

test('Deliveries, endpoints, webhooks, users and keys are changed together', async () => {
  const acme = await app.newTenant()
  acme.target.fails(500)
  const { owner } = acme
  const endpoints = [await acme.endpoint(), await acme.endpoint()]
  const message = await acme.message()
  const deliveries = (await owner.open('/deliveries')).rows
  ;(
    await owner.follow(await owner.send('/deliveries/selected/cancel', selected(...deliveries)))
  ).says('2 deliveries cancelled.')
  acme.target.fails(200)
  await owner.send('/deliveries/selected/resend', selected(...deliveries))
  await app.clock.settled()
  expect((await owner.open('/deliveries?status=succeeded')).rows).toEqual(deliveries)
  ;(
    await owner.send(
      `/messages/${message}/selected/cancel?stage=delivered`,
      selected(...deliveries),
    )
  ).says('2 deliveries not cancelled: Only an open delivery can be cancelled')
  await owner.send('/endpoints/selected/pause', selected(...endpoints))
  expect((await owner.open('/endpoints?state=paused')).rows.toSorted()).toEqual(endpoints)
  await owner.send('/endpoints/selected/delete', selected(...endpoints))
  expect((await owner.open('/endpoints')).rows).toEqual([])
  const hook = { url: acme.target.url }
  const webhook = (await acme.gate.post('/v1/gate/settings/webhooks', hook)).body.id
  await owner.send('/webhooks/selected/pause', selected(webhook))
  expect((await owner.open('/webhooks?state=paused')).rows).toEqual([webhook])
  const user = { schema_id: 'user', traits: { email: 'ada@example.com' } }
  const { id } = (await acme.gate.post('/v1/gate/identities', user)).body
  const log = `/webhooks/${webhook}`
  const held = (await owner.open(`${log}?status=held`)).rows
  const cancelled = await owner.send(`${log}/selected/cancel?status=held`, selected(...held))
  expect(cancelled.location).toContain(`${log}?done=webhooks-selected-cancel.one&status=held`)
  await owner.send('/webhooks/selected/resume', selected(webhook))
  await owner.send(`${log}/selected/resend`, selected(...held))
  await app.clock.settled()
  expect((await owner.open(`${log}?status=succeeded`)).rows).toEqual(held)
  await owner.send('/webhooks/selected/delete', selected(webhook))
  expect((await owner.open('/webhooks')).rows).toEqual([])
  await owner.send('/identities/selected/deactivate', selected(id))
  expect((await owner.open('/identities?state=inactive')).rows).toEqual([id])
  await owner.send('/identities/selected/delete', selected(id))
  expect(owner.audited('identity.deleted')).toEqual([`identity:${id}`])
  const keys = (await owner.open('/keys')).rows
  await owner.send('/keys/selected/revoke', selected(...keys))
  expect(owner.audited('key.revoked').length).toBe(keys.length)
  expect((await acme.api.get('/v1/clockwork/jobs')).status).toBe(401)
})
