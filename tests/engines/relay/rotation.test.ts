import { expect, test } from 'bun:test'
import { type Json, type Party, refusal, refused, signedWith, useRelay } from './fixture.ts'
import { DAY, ENDPOINTS, HOUR, SECOND } from './support.ts'

// Which secrets sign is in tests/delivery/signing.test.ts.

const { clock, newTenant } = await useRelay()

const secretOf = (fill: number, bytes = 32) =>
  `whsec_${Buffer.alloc(bytes, fill).toString('base64')}`

/** The secrets that sign what is sent now. */
async function signersNow({ deliver, target }: Party, secrets: string[]) {
  const before = target.requests.length
  await deliver()
  return signedWith(target.requests[before], secrets)
}

/** Rotates four times; all five secrets. */
async function rotatedFourTimes({ rotate }: Party, endpoint: Json): Promise<string[]> {
  const secrets = [endpoint.secret]
  for (let n = 0; n < 4; n++) secrets.push((await rotate(endpoint)).secret)
  return secrets
}

test.each([
  ['an hour', { grace_seconds: 3600 }, HOUR],
  ['a day unless told otherwise', {}, DAY],
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

test('Several rotations keep at most five secrets, until one expires or there is no grace period', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  const secrets = await rotatedFourTimes(relay, endpoint)
  const path = `${ENDPOINTS}/${endpoint.id}/rotate-secret`
  const answer = await relay.api.post(path, { secret: secretOf(9) })
  expect(answer).toMatchObject(refusal(409, 'conflict'))
  expect(await signersNow(relay, [...secrets, secretOf(9)])).toEqual(secrets)

  const { secret, previous_expires_at } = await relay.rotate(endpoint, { grace_seconds: 0 })
  expect(previous_expires_at).toBeNull()
  expect(await signersNow(relay, [...secrets, secret])).toEqual([secret])
  await rotatedFourTimes(relay, endpoint)
  clock.jump(DAY)
  const last = await relay.rotate(endpoint)
  expect(await signersNow(relay, [endpoint.secret, last.secret])).toEqual([last.secret])
})

test('An imported secret becomes the current one, also if it comes back in its grace period', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  const fields = { secret: secretOf(3), grace_seconds: 0 }
  const expected = { secret: secretOf(3), previous_expires_at: null }
  expect(await relay.rotate(endpoint, fields)).toEqual(expected)
  expect(await signersNow(relay, [endpoint.secret, secretOf(3)])).toEqual([secretOf(3)])

  const { secret } = await relay.rotate(endpoint, { grace_seconds: 3600 })
  await relay.rotate(endpoint, { secret: secretOf(3), grace_seconds: 3600 })
  expect(await signersNow(relay, [secret, secretOf(3)])).toHaveLength(2)
  expect(relay.headers('webhook-signature')[1]?.split(' ')).toHaveLength(2)
  clock.jump(HOUR)
  expect(await signersNow(relay, [secret, secretOf(3)])).toEqual([secretOf(3)])
})

test.each([
  ['secret', ['abc', secretOf(1).slice('whsec_'.length), secretOf(1, 23), secretOf(1, 76), null]],
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
