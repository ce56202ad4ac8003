import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  bootFixture,
  DAY,
  ENDPOINTS,
  type Fixture,
  HOUR,
  isoAt,
  type Json,
  refusal,
  SECOND,
  START,
  signedWith,
} from './management.ts'

const secretOf = (fill: number, bytes = 32) =>
  `whsec_${Buffer.alloc(bytes, fill).toString('base64')}`

/** Those of the secrets that sign what is sent now. */
async function signersNow({ publish, target }: Fixture, secrets: string[]) {
  const before = target.requests.length
  await publish()
  return signedWith(target.requests[before], secrets)
}

/** The hours pass without the loops being asked at every step. */
async function pass({ clock }: Fixture, ms: number) {
  clock.jump(ms - 1)
  await clock.advance(1)
}

describe('during the grace time', () => {
  test('old and new secret sign, the new one first; after it only the new one', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate } = fixture
    const endpoint = await createEndpoint()
    const next = await rotate(endpoint, { grace_seconds: 3600 })
    const both = [endpoint.secret, next.secret]
    expect(next).toEqual({
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      previous_expires_at: isoAt(START + HOUR),
    })
    expect(next.secret).not.toBe(endpoint.secret)

    expect(await signersNow(fixture, both)).toEqual(both)
    await pass(fixture, HOUR - SECOND)
    expect(await signersNow(fixture, both)).toEqual(both)
    await pass(fixture, SECOND)
    expect(await signersNow(fixture, both)).toEqual([next.secret])
  })

  test('both headers carry a signature of each', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate, publish, target } = fixture
    await rotate(await createEndpoint())

    await publish()

    const headers = target.requests[0]?.headers
    expect(headers?.get('webhook-signature')).toMatch(/^v1,[^ ]+ v1,[^ ]+$/)
    expect(headers?.get('x-service-signature')).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
  })

  test('a retry of what was first sent before it is signed with both', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate, publish, target, clock } = fixture
    const endpoint = await createEndpoint()
    target.answers(({ headers }) => {
      return new Response('', { status: headers.get('x-service-attempt') === '1' ? 500 : 200 })
    })
    await publish()

    const { secret } = await rotate(endpoint)
    await clock.advance(10 * SECOND)

    const both = [endpoint.secret, secret]
    expect(signedWith(target.requests[0], both)).toEqual([endpoint.secret])
    expect(signedWith(target.requests[1], both)).toEqual(both)
  })

  test('a test event is signed with both', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate, sendTest, target } = fixture
    const endpoint = await createEndpoint()
    const { secret } = await rotate(endpoint)

    await sendTest(endpoint)

    expect(signedWith(target.requests[0], [endpoint.secret, secret])).toHaveLength(2)
  })
})

test.each([
  ['an empty body', {}],
  ['no body at all', undefined],
])('with %s the grace time is a day', async (_, body) => {
  await using fixture = await bootFixture()
  const { api, createEndpoint } = fixture
  const endpoint = await createEndpoint()

  const answer = await api.post(`${ENDPOINTS}/${endpoint.id}/rotate-secret`, body)

  expect(answer).toMatchObject({ status: 200, body: { previous_expires_at: isoAt(START + DAY) } })
})

test('without a grace time the old secret signs nothing more', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, rotate } = fixture
  const endpoint = await createEndpoint()

  const { secret, previous_expires_at } = await rotate(endpoint, { grace_seconds: 0 })

  expect(previous_expires_at).toBeNull()
  expect(await signersNow(fixture, [endpoint.secret, secret])).toEqual([secret])
})

test('the longest grace time is a week', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, rotate } = fixture
  const endpoint = await createEndpoint()

  const { secret } = await rotate(endpoint, { grace_seconds: 604_800 })

  await pass(fixture, 7 * DAY - SECOND)
  expect(await signersNow(fixture, [endpoint.secret, secret])).toHaveLength(2)
  await pass(fixture, SECOND)
  expect(await signersNow(fixture, [endpoint.secret, secret])).toEqual([secret])
})

describe('several rotations', () => {
  test('let no old secret outlive the grace time of the last one', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate } = fixture
    const endpoint = await createEndpoint()
    const second = await rotate(endpoint, { grace_seconds: 7200 })
    const third = await rotate(endpoint, { grace_seconds: 3600 })
    const all = [endpoint.secret, second.secret, third.secret]

    expect(await signersNow(fixture, all)).toEqual(all)
    await pass(fixture, HOUR - 1000)
    expect(await signersNow(fixture, all)).toEqual(all)
    await pass(fixture, 1000)
    expect(await signersNow(fixture, all)).toEqual([third.secret])
  })

  test('may keep five in use; one more is a conflict that changes nothing', async () => {
    await using fixture = await bootFixture()
    const { api, createEndpoint, rotate } = fixture
    const endpoint = await createEndpoint()
    const secrets = [endpoint.secret]
    for (let n = 0; n < 4; n++) secrets.push((await rotate(endpoint)).secret)

    const answer = await api.post(`${ENDPOINTS}/${endpoint.id}/rotate-secret`, {
      secret: secretOf(9),
    })

    expect(answer).toMatchObject(refusal(409, 'conflict', 'secret', '5'))
    expect(await signersNow(fixture, [...secrets, secretOf(9)])).toEqual(secrets)
  })

  test('go on once one of the five has expired', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate } = fixture
    const endpoint = await createEndpoint()
    await rotate(endpoint, { grace_seconds: 60 })
    for (let n = 0; n < 3; n++) await rotate(endpoint)

    await pass(fixture, 60 * SECOND)
    const { secret } = await rotate(endpoint)

    expect(await signersNow(fixture, [endpoint.secret, secret])).toEqual([secret])
  })

  test('without a grace time leave only the new one, as after a leak', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate } = fixture
    const endpoint = await createEndpoint()
    const secrets = [endpoint.secret]
    for (let n = 0; n < 4; n++) secrets.push((await rotate(endpoint)).secret)

    const { secret } = await rotate(endpoint, { grace_seconds: 0 })

    expect(await signersNow(fixture, [...secrets, secret])).toEqual([secret])
  })
})

describe('an imported secret', () => {
  test('becomes the current one', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate } = fixture
    const endpoint = await createEndpoint()

    expect(await rotate(endpoint, { secret: secretOf(3), grace_seconds: 0 })).toEqual({
      secret: secretOf(3),
      previous_expires_at: null,
    })

    expect(await signersNow(fixture, [endpoint.secret, secretOf(3)])).toEqual([secretOf(3)])
  })

  test('that comes back while it is retiring stays, and is signed with once', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate, publish, target } = fixture
    const endpoint = await createEndpoint()
    const { secret } = await rotate(endpoint, { grace_seconds: 3600 })

    await rotate(endpoint, { secret: endpoint.secret, grace_seconds: 3600 })
    await publish()
    expect(target.requests[0]?.headers.get('webhook-signature')?.split(' ')).toHaveLength(2)

    await pass(fixture, HOUR)
    expect(await signersNow(fixture, [endpoint.secret, secret])).toEqual([endpoint.secret])
  })

  test('that is the current one already leaves nothing that could expire', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, rotate } = fixture
    const endpoint = await createEndpoint()

    expect(await rotate(endpoint, { secret: endpoint.secret })).toEqual({
      secret: endpoint.secret,
      previous_expires_at: null,
    })

    await pass(fixture, 2 * DAY)
    expect(await signersNow(fixture, [endpoint.secret])).toEqual([endpoint.secret])
  })
})

describe('refused, without repeating the secret, and nothing changes', () => {
  let fixture: Fixture
  let endpoint: Json
  beforeAll(async () => {
    fixture = await bootFixture()
    endpoint = await fixture.createEndpoint()
  })
  afterAll(() => fixture.end())

  test.each([
    [{ secret: 'abc' }, 'secret', 'whsec_'],
    [{ secret: Buffer.alloc(32).toString('base64') }, 'secret', 'whsec_'],
    [{ secret: secretOf(251).replaceAll('+', '-') }, 'secret', 'base64'],
    [{ secret: secretOf(1).replace('=', '') }, 'secret', 'base64'],
    [{ secret: secretOf(1, 23) }, 'secret', '24 to 75'],
    [{ secret: secretOf(1, 76) }, 'secret', '24 to 75'],
    [{ secret: 5 }, 'secret', 'whsec_'],
    [{ secret: null }, 'secret', 'whsec_'],
    [{ grace_seconds: -1 }, 'grace_seconds', '0 to 604800'],
    [{ grace_seconds: 604_801 }, 'grace_seconds', '0 to 604800'],
    [{ grace_seconds: 1.5 }, 'grace_seconds', 'whole number'],
    [{ grace_seconds: '60' }, 'grace_seconds', 'whole number'],
    [[], 'object'],
  ] as [{ secret?: string } | [], ...string[]][])('%j', async (body, ...words) => {
    const answer = await fixture.api.post(`${ENDPOINTS}/${endpoint.id}/rotate-secret`, body)

    if ('secret' in body && typeof body.secret === 'string')
      expect(JSON.stringify(answer.body)).not.toContain(body.secret)
    expect(answer).toMatchObject(refusal(400, 'invalid_payload', ...words))
    expect(await signersNow(fixture, [endpoint.secret])).toEqual([endpoint.secret])
  })

  test('an endpoint that there is not', async () => {
    expect(await fixture.api.post(`${ENDPOINTS}/nothing/rotate-secret`, {})).toMatchObject(
      refusal(404, 'not_found', 'endpoint'),
    )
  })
})
