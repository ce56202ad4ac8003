import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Json, SETTINGS } from '../fixture.ts'
import { besides, bootWebhooks, type Fixture, refusal } from '../webhooks/webhook-fixture.ts'

const SECURITY = `${SETTINGS}/security`
const PROVIDERS = `${SETTINGS}/oidc-providers`
const RETURN_URLS = `${SETTINGS}/return-urls`
const POLICIES = `${SETTINGS}/policies`

const security = (passwordless: boolean, mfa: boolean) => ({
  passwordless_enabled: passwordless,
  mfa_enabled: mfa,
})

describe('the security settings', () => {
  test('are two switches, off as they come', async () => {
    await using fixture = await bootWebhooks()
    expect(await fixture.read(SECURITY)).toEqual(security(false, false))
  })

  test.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])(
    'take passwordless %p and MFA %p together, and answer with both',
    async (passwordless, mfa) => {
      await using fixture = await bootWebhooks()
      await fixture.api.put(SECURITY, security(!passwordless, !mfa))

      const answer = await fixture.api.put(SECURITY, security(passwordless, mfa))

      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 200,
        body: security(passwordless, mfa),
      })
      expect(await fixture.read(SECURITY)).toEqual(security(passwordless, mfa))
    },
  )

  test('take one of the two, and leave the other', async () => {
    await using fixture = await bootWebhooks()
    const { api } = fixture

    expect((await api.put(SECURITY, { mfa_enabled: true })).body).toEqual(security(false, true))
    expect((await api.put(SECURITY, { passwordless_enabled: true })).body).toEqual(
      security(true, true),
    )
    expect((await api.put(SECURITY, { mfa_enabled: false })).body).toEqual(security(true, false))
    expect(await fixture.read(SECURITY)).toEqual(security(true, false))
  })

  test('stay as they are for an empty object, and for fields that there are not', async () => {
    await using fixture = await bootWebhooks()
    await fixture.api.put(SECURITY, security(true, false))
    for (const body of [{}, { webauthn_enabled: true }, { Mfa_Enabled: true }, { mfa: true }])
      expect(await fixture.api.put(SECURITY, body)).toMatchObject({
        status: 200,
        body: security(true, false),
      })
    expect(await fixture.read(SECURITY)).toEqual(security(true, false))
  })

  test('keep both of two changes that are made at the same time', async () => {
    await using fixture = await bootWebhooks()
    const { api } = fixture

    await Promise.all([
      api.put(SECURITY, { mfa_enabled: true }),
      api.put(SECURITY, { passwordless_enabled: true }),
    ])

    expect(await fixture.read(SECURITY)).toEqual(security(true, true))
  })
})

describe('a change of the security settings is refused, and changes nothing', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await bootWebhooks()
    await fixture.api.put(SECURITY, security(true, false))
  })
  afterAll(() => fixture.end())

  const switches = ['passwordless_enabled', 'mfa_enabled']
  const wrong = [null, 0, 1, 'true', 'false', '', [], {}, [true]]

  test.each(switches.flatMap((name) => wrong.map((value): [string, unknown] => [name, value])))(
    '%s %j',
    async (name, value) => {
      // The other switch, which is good, must not move either.
      const body = { passwordless_enabled: false, mfa_enabled: true, [name]: value }
      expect(await fixture.api.put(SECURITY, body)).toMatchObject(
        refusal(400, `${name}: must be true or false`),
      )
      expect(await fixture.read(SECURITY)).toEqual(security(true, false))
    },
  )

  test.each([undefined, null, [], 'on', true, 5].map((body) => [body]))(
    'with %j as body',
    async (body) => {
      expect(await fixture.api.put(SECURITY, body)).toMatchObject(
        refusal(400, 'body: must be a JSON object'),
      )
      expect(await fixture.read(SECURITY)).toEqual(security(true, false))
    },
  )

  test.each([
    ['malformed', '{', 'application/json', 400, 'must be JSON'],
    ['of another type', 'mfa_enabled=true', 'text/plain', 415, 'Content-Type'],
    ['too large', `"${'x'.repeat(2_000_000)}"`, 'application/json', 413, 'must be at most'],
  ])('with a body that is %s', async (_, body, type, status, words) => {
    const answer = await fixture.app.raw(SECURITY, {
      method: 'PUT',
      headers: { authorization: `Bearer ${fixture.key}`, 'content-type': type },
      body,
    })
    expect(answer).toMatchObject(refusal(status, words))
    expect(await fixture.read(SECURITY)).toEqual(security(true, false))
  })
})

/** One change of each part of the settings. */
const CHANGES: [path: string, body: Json][] = [
  [PROVIDERS, { providers: [{ provider: 'github', enabled: true }] }],
  [SECURITY, security(true, true)],
  [RETURN_URLS, { return_urls: ['https://app.example.com/'] }],
  [POLICIES, { policies: 'permit(principal, action, resource);' }],
]

const partsOf = async ({ read }: Pick<Fixture, 'read'>): Promise<Json[]> => {
  const parts: Json[] = []
  for (const [path] of CHANGES) parts.push(await read(path))
  return parts
}

describe('the parts of the settings', () => {
  test('leave each other alone', async () => {
    await using fixture = await bootWebhooks()

    for (const [changed, [path, body]] of CHANGES.entries()) {
      const before = await partsOf(fixture)
      expect(await fixture.api.put(path, body)).toMatchObject({ status: 200 })

      const after = await partsOf(fixture)
      expect(after[changed]).not.toEqual(before[changed])
      expect(after.toSpliced(changed, 1)).toEqual(before.toSpliced(changed, 1))
    }
  })

  test('do not lose each other when they are changed at the same time', async () => {
    await using fixture = await bootWebhooks()
    const asItComes = await partsOf(fixture)

    await Promise.all(CHANGES.map(([path, body]) => fixture.api.put(path, body)))

    for (const [n, part] of (await partsOf(fixture)).entries())
      expect(part).not.toEqual(asItComes[n])
  })

  test('are those of one tenant, the same with its live and its test key', async () => {
    await using fixture = await bootWebhooks()
    const other = await fixture.party()
    const asItComes = await partsOf(other)
    const test = fixture.speak((await fixture.acme.key('gate', 'test')).key)

    for (const [path, body] of CHANGES) await test.api.put(path, body)

    expect(await partsOf(fixture)).toEqual(await partsOf(test))
    expect(await partsOf(fixture)).not.toEqual(asItComes)
    expect(await partsOf(other)).toEqual(asItComes)
  })

  test('are what another process has made them, at once', async () => {
    await using fixture = await bootWebhooks()
    await using next = await besides(fixture, fixture.key)
    const other = await fixture.party()
    for (const [path] of CHANGES) await next.get(path)

    for (const [path, body] of CHANGES) {
      await next.put(path, body)
      const [here, there] = [await fixture.read(path), (await next.get(path)).body]
      expect(here).toEqual(there)
      expect(here).not.toEqual(await other.read(path))
    }
  })

  test('keep what two processes change at the same time', async () => {
    await using fixture = await bootWebhooks()
    await using next = await besides(fixture, fixture.key)

    for (let n = 0; n < 20; n++) {
      const isOn = n % 2 === 0
      await Promise.all([
        fixture.api.put(SECURITY, { mfa_enabled: isOn }),
        next.put(SECURITY, { passwordless_enabled: !isOn }),
      ])
      expect(await fixture.read(SECURITY)).toEqual(security(!isOn, isOn))
      expect((await next.get(SECURITY)).body).toEqual(security(!isOn, isOn))
    }
  })

  test('leave a row in the audit log with each change, and none with a refusal', async () => {
    await using fixture = await bootWebhooks()
    const { app, acme } = fixture
    const changes = () =>
      app.db.client
        .query("select tenant_id, action from audit_log where action like '%.changed' order by seq")
        .all() as Json[]

    for (const [path, body] of CHANGES) await fixture.api.put(path, body)
    for (const [path] of CHANGES)
      expect(
        await fixture.api.put(path, { return_urls: 5, policies: 5, mfa_enabled: 5 }),
      ).toMatchObject({ status: 400 })

    expect(changes()).toEqual(
      ['providers', 'security', 'return_urls', 'policies'].map((part) => ({
        tenant_id: acme.id,
        action: `${part}.changed`,
      })),
    )
  })
})
