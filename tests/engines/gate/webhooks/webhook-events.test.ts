import { expect, test } from 'bun:test'
import { ID, IDENTITIES, personPath, told, UNKNOWN_ID } from '../fixture.ts'
import { ALL_EVENTS, eventIn, signersOf, useWebhooks } from './fixture.ts'

// What the state route sends is in identities/changes.test.ts, deletions in identities/deletion.test.ts.
const newParty = await useWebhooks({ flags: { 'brand-name': 'Acme' } })

test('Refused changes, and changes of other things, are not events', async () => {
  await using acme = await newParty()
  const taken = 'taken@example.com'
  await acme.createIdentity({ traits: { email: taken } })
  const person = await acme.createIdentity()
  await acme.createWebhook(acme.target.url)
  const setState = { op: 'replace', path: '/state', value: 'inactive' }
  const move = (value: string) => ({ op: 'replace', path: '/traits/email', value })
  const creation = (email: string, fields = {}) =>
    acme.api.post(IDENTITIES, { schema_id: 'user', traits: { email }, ...fields })
  for (const { status } of [
    await creation(taken.toUpperCase()),
    await creation('new@example.com', { credentials: { password: { config: {} } } }),
    await acme.patch(person, [setState, { op: 'test', path: '/state', value: 'active' }]),
    await acme.patch(person, [setState, move(taken)]),
    await acme.api.delete(personPath({ id: UNKNOWN_ID })),
  ])
    expect([400, 404, 409]).toContain(status)
  for (const { status } of [
    await acme.api.patch(personPath(person, '/metadata'), { plan: 'pro' }),
    await acme.api.post(personPath(person, '/resend-verification')),
    await acme.api.delete(personPath(person, '/sessions')),
    await acme.patch(person, [move('moved@example.com')]),
  ])
    expect(status).toBeLessThan(300)
  await acme.rest()
  expect(acme.target.requests).toEqual([])
})

test('An event is sent to the webhooks of the tenant that are subscribed to it, whatever the key', async () => {
  await using acme = await newParty()
  await using other = await acme.another()
  const { target } = acme
  const sandbox = acme.withKey((await acme.newKey('gate', 'test')).key)
  for (const event of ALL_EVENTS)
    await acme.createWebhook(`${target.url}/${event}`, { events: [event] })
  await sandbox.createWebhook(`${target.url}/all`)
  await other.createWebhook(other.target.url)
  const person = await sandbox.createIdentity()
  await acme.setState(person, 'inactive')
  await acme.setState(person, 'active')
  await acme.removeIdentity(person)
  await acme.rest()
  const arrived = target.requests.map((one) => `${one.path} ${eventIn(one).event_type}`)
  const expected = ['created', 'deleted', 'state_changed', 'state_changed'].flatMap((name) =>
    ['all', `identity.${name}`].map((webhook) => `/hook/${webhook} identity.${name}`),
  )
  expect(arrived.toSorted()).toEqual(expected.toSorted())
  expect(await sandbox.listDeliveries()).toEqual(await acme.listDeliveries())
  expect(await other.listDeliveries()).toEqual([])

  const { id } = await other.createIdentity()
  await other.rest()
  expect(target.requests).toHaveLength(8)
  expect(told(other.target)).toMatchObject([{ tenant_id: other.id, data: { identity_id: id } }])
})

test('Each attempt has the envelope of the contract, signed over its bytes, and no secrets', async () => {
  await using acme = await newParty()
  const { target } = acme
  target.answers(500)
  const begun = Math.floor(acme.clock.now() / 1000)
  const created_at = acme.now()
  const { secret } = await acme.createWebhook(`${target.url}?of=gate`)
  const { id } = await acme.createIdentity({
    metadata_public: { roles: ['admin'] },
    traits: { email: 'Zoë@bücher.example', custom_data: { plan: 'pro' } },
    credentials: { password: { config: { password: 'correct horse 9' } } },
  })
  await acme.toTheEnd()

  const { event_id } = eventIn(target.requests[0])
  const payload = { email: 'zoë@bücher.example', method: 'password' }
  const envelope = {
    ...{ event_id, event_type: 'identity.created', tenant_id: acme.id, created_at },
    data: { identity_id: id, payload },
  }
  expect(event_id).toEqual(ID)
  expect(target.requests).toHaveLength(3)
  for (const [n, request] of target.requests.entries()) {
    const at = begun + ([0, 1, 3][n] as number)
    expect(request.body).toBe(JSON.stringify(envelope))
    expect(request).toMatchObject({ method: 'POST', path: '/hook?of=gate' })
    expect(Object.fromEntries(request.headers)).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': event_id,
      'webhook-timestamp': `${at}`,
      'x-acme-event-type': 'identity.created',
      'x-acme-attempt': `${n + 1}`,
      'x-acme-signature': expect.stringMatching(RegExp(`^t=${at},`)),
    })
    expect(signersOf(request, [secret], 'x-acme-signature')).toEqual([secret])
    const names = [...request.headers.keys()].filter((one) => one.endsWith('-signature'))
    expect(names.toSorted()).toEqual(['webhook-signature', 'x-acme-signature'])
    const whole = JSON.stringify([...request.headers]) + request.body
    for (const hidden of [secret, acme.key, 'correct horse', 'argon2', 'cookie', 'authorization'])
      expect(whole).not.toContain(hidden)
  }
})
