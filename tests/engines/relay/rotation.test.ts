import { describe, expect, test } from 'bun:test'
import {
  answerWith,
  bootRelay,
  DAY,
  ENDPOINTS,
  HOUR,
  isoAt,
  type Json,
  type Party,
  refusal,
  refused,
  SECOND,
  START,
  signedWith,
  useRelay,
} from './fixture.ts'

const { newTenant } = await useRelay()

const secretOf = (fill: number, bytes = 32) =>
  `whsec_${Buffer.alloc(bytes, fill).toString('base64')}`

/** The secrets that sign what is sent now. */
async function signersNow({ deliver, target }: Party, secrets: string[]) {
  const before = target.requests.length
  await deliver()
  return signedWith(target.requests[before], secrets)
}

/** The time passes without the loops being asked at every step. */
async function pass({ clock }: Party, ms: number) {
  clock.jump(ms - 1)
  await clock.advance(1)
}

/** Rotates four times; all five secrets. */
async function rotatedFourTimes({ rotate }: Party, endpoint: Json): Promise<string[]> {
  const secrets = [endpoint.secret]
  for (let n = 0; n < 4; n++) secrets.push((await rotate(endpoint)).secret)
  return secrets
}

describe('during the grace period', () => {
  test.each([
    ['an hour', { grace_seconds: 3600 }, HOUR],
    ['a day unless told otherwise', {}, DAY],
    ['a day without a body', undefined, DAY],
    ['a week at most', { grace_seconds: 604_800 }, 7 * DAY],
  ])('of %s both secrets sign, the new one first', async (_, fields, grace) => {
    await using relay = await bootRelay()
    const endpoint = await relay.createEndpoint()
    const { body } = await relay.api.post(`${ENDPOINTS}/${endpoint.id}/rotate-secret`, fields)
    const both = [endpoint.secret, body.secret]
    expect(body).toEqual({
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      previous_expires_at: isoAt(START + grace),
    })

    expect(await signersNow(relay, both)).toEqual(both)
    const { headers } = relay.target.requests[0] as { headers: Headers }
    expect(headers.get('webhook-signature')).toMatch(/^v1,[^ ]+ v1,[^ ]+$/)
    expect(headers.get('x-service-signature')).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    await pass(relay, grace - SECOND)
    expect(await signersNow(relay, both)).toEqual(both)
    await pass(relay, SECOND)
    expect(await signersNow(relay, both)).toEqual([body.secret])
  })

  test('a retry and a test event are signed with both', async () => {
    const { createEndpoint, deliver, rotate, sendTest, target, clock } = await newTenant()
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    await deliver()

    const { secret } = await rotate(endpoint)
    await clock.advance(5 * SECOND)
    await sendTest(endpoint)

    const both = [endpoint.secret, secret]
    const signers = target.requests.map((request) => signedWith(request, both))
    expect(signers).toEqual([[endpoint.secret], both, both])
  })
})

describe('several rotations', () => {
  test('let no old secret outlive the grace period of the last one', async () => {
    await using relay = await bootRelay()
    const { createEndpoint, rotate } = relay
    const endpoint = await createEndpoint()
    const second = await rotate(endpoint, { grace_seconds: 7200 })
    const third = await rotate(endpoint, { grace_seconds: 3600 })
    const all = [endpoint.secret, second.secret, third.secret]

    await pass(relay, HOUR - 1000)
    expect(await signersNow(relay, all)).toEqual(all)
    await pass(relay, 1000)
    expect(await signersNow(relay, all)).toEqual([third.secret])
  })

  test('keep at most five secrets, until one expires or there is no grace period', async () => {
    await using relay = await bootRelay()
    const { api, createEndpoint, rotate } = relay
    const endpoint = await createEndpoint()
    const secrets = await rotatedFourTimes(relay, endpoint)

    const body = { secret: secretOf(9) }
    const answer = await api.post(`${ENDPOINTS}/${endpoint.id}/rotate-secret`, body)
    expect(answer).toMatchObject(refusal(409, 'conflict'))
    expect(await signersNow(relay, [...secrets, secretOf(9)])).toEqual(secrets)

    const { secret, previous_expires_at } = await rotate(endpoint, { grace_seconds: 0 })
    expect(previous_expires_at).toBeNull()
    expect(await signersNow(relay, [...secrets, secret])).toEqual([secret])
    await rotatedFourTimes(relay, endpoint)
    await pass(relay, DAY)
    const last = await rotate(endpoint)
    expect(await signersNow(relay, [endpoint.secret, last.secret])).toEqual([last.secret])
  })
})

describe('an imported secret', () => {
  test('becomes the current one', async () => {
    const party = await newTenant()
    const endpoint = await party.createEndpoint()

    const fields = { secret: secretOf(3), grace_seconds: 0 }
    const expected = { secret: secretOf(3), previous_expires_at: null }
    expect(await party.rotate(endpoint, fields)).toEqual(expected)

    expect(await signersNow(party, [endpoint.secret, secretOf(3)])).toEqual([secretOf(3)])
  })

  test('that comes back during its grace period stays, and signs once', async () => {
    await using relay = await bootRelay()
    const { createEndpoint, rotate, deliver, target } = relay
    const endpoint = await createEndpoint()
    const { secret } = await rotate(endpoint, { grace_seconds: 3600 })

    await rotate(endpoint, { secret: endpoint.secret, grace_seconds: 3600 })
    await deliver()
    expect(target.requests[0]?.headers.get('webhook-signature')?.split(' ')).toHaveLength(2)

    await pass(relay, HOUR)
    expect(await signersNow(relay, [endpoint.secret, secret])).toEqual([endpoint.secret])
  })

  test('that is the current one never expires', async () => {
    await using relay = await bootRelay()
    const endpoint = await relay.createEndpoint()
    const { secret } = endpoint

    const expected = { secret, previous_expires_at: null }
    expect(await relay.rotate(endpoint, { secret })).toEqual(expected)

    await pass(relay, 2 * DAY)
    expect(await signersNow(relay, [secret])).toEqual([secret])
  })
})

test.each([
  ['secret', ['abc', secretOf(1).slice('whsec_'.length), secretOf(251).replaceAll('+', '-')]],
  ['secret', [secretOf(1).replace('=', ''), secretOf(1, 23), secretOf(1, 76), 5, null]],
  ['grace_seconds', [-1, 604_801, 1.5, '60']],
])('a refused %s is not repeated, and changes nothing', async (field, values) => {
  const party = await newTenant()
  const endpoint = await party.createEndpoint()

  for (const value of values) {
    const path = `${ENDPOINTS}/${endpoint.id}/rotate-secret`
    const answer = await party.api.post(path, { [field]: value })
    const text = JSON.stringify(answer.body)
    expect({ value, ...answer }).toMatchObject({ value, ...refused(field) })
    if (typeof value === 'string') expect(text).not.toContain(value)
  }
  expect(await signersNow(party, [endpoint.secret])).toEqual([endpoint.secret])
})
