import { expect, test } from 'bun:test'
import { type Party, refusal, refused, signedWith, useRelay } from './fixture.ts'
import { DAY, ENDPOINTS, HOUR, SECOND } from './support.ts'

// Which secrets sign, and which are well formed, is in tests/delivery/signing.test.ts.

const { clock, newTenant } = await useRelay()

const secretOf = (fill: number) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`

/** The secrets that sign what is sent now. */
async function signersNow({ deliver, target }: Party, secrets: string[]) {
  const before = target.requests.length
  await deliver()
  return signedWith(target.requests[before], secrets)
}

test.each([
  ['an hour', { grace_seconds: 3600 }, HOUR],
  ['a day without a body', undefined, DAY],
  ['a week at most', { grace_seconds: 604_800 }, 7 * DAY],
])('During a grace period of %s both secrets sign, the new one first', async (_, fields, grace) => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  const { body } = await relay.api.post(`${ENDPOINTS}/${endpoint.id}/rotate-secret`, fields)
  const both = [endpoint.secret, body.secret]
  const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(body).toEqual({ secret, previous_expires_at: relay.at(grace / SECOND) })

  expect(await signersNow(relay, both)).toEqual(both)
  const [standard, service] = ['webhook-signature', 'x-service-signature'].map(relay.headers)
  expect(standard?.[0]).toMatch(/^v1,[^ ]+ v1,[^ ]+$/)
  expect(service?.[0]).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
  clock.jump(grace - SECOND)
  expect(await signersNow(relay, both)).toEqual(both)
  clock.jump(SECOND)
  expect(await signersNow(relay, both)).toEqual([body.secret])
})

test('During the grace period a retry and a test event are signed with both', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  relay.target.answers(500)
  await relay.deliver()
  const { secret } = await relay.rotate(endpoint)
  await clock.advance(5 * SECOND)
  await relay.sendTest(endpoint)
  const both = [endpoint.secret, secret]
  const signers = relay.target.requests.map((request) => signedWith(request, both))
  expect(signers).toEqual([[endpoint.secret], both, both])
})

test('Five secrets at most sign, until one expires or is given no grace period', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  const secrets: string[] = [endpoint.secret]
  while (secrets.length < 5) secrets.push((await relay.rotate(endpoint)).secret)
  const path = `${ENDPOINTS}/${endpoint.id}/rotate-secret`
  expect(await relay.api.post(path, {})).toMatchObject(refusal(409, 'conflict'))
  expect(await signersNow(relay, secrets)).toEqual(secrets)
  clock.jump(DAY)
  const { secret } = await relay.rotate(endpoint)
  expect(await signersNow(relay, [...secrets, secret])).toEqual([secrets[4] as string, secret])

  const imported = { secret: secretOf(3), previous_expires_at: null }
  const fields = { secret: secretOf(3), grace_seconds: 0 }
  expect(await relay.rotate(endpoint, fields)).toEqual(imported)
  expect(await signersNow(relay, [secret, secretOf(3)])).toEqual([secretOf(3)])
})

test.each([
  ['secret', ['abc', secretOf(1).slice('whsec_'.length), null]],
  ['grace_seconds', [-1, 604_801, 1.5, '60']],
])('A refused %s is not repeated, and changes nothing', async (field, values) => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  for (const value of values) {
    const path = `${ENDPOINTS}/${endpoint.id}/rotate-secret`
    const answer = await relay.api.post(path, { [field]: value })
    expect({ value, ...answer }).toMatchObject({ value, ...refused(field) })
    if (field === 'secret' && value) expect(JSON.stringify(answer.body)).not.toContain(`${value}`)
  }
  expect(await signersNow(relay, [endpoint.secret])).toEqual([endpoint.secret])
})
