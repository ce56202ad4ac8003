import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type Json, MINUTE } from '../../fixture.ts'
import { actionsOn, rowsOf, tablesWith } from '../../identities/people.ts'
import {
  bootFactors,
  CODES,
  codesShown,
  complains,
  enrolled,
  halfway,
  nextCode,
  read,
  recoveryCodes,
  sessionOf,
  withToken,
} from './acts.ts'
import { type FlowFixture, messageIds, node, nodeNames } from './fixture.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootFactors()
})
afterAll(() => fixture.app.stop())

let people = 0
let email: string
let token: string
let identity: Json
let secret: string
beforeEach(async () => {
  email = `careful-${people++}@example.com`
  // Nobody's code of the test before is still shown.
  fixture.clock.jump(MINUTE)
  const person = await enrolled(fixture, email)
  token = person.token
  identity = person.identity
  secret = person.secret
})

const lookup = (lookup_secret: unknown) => ({ method: 'lookup_secret', lookup_secret })
const lookupNodes = (flow: Json) =>
  nodeNames(flow).filter((name) => name.startsWith('lookup_secret:'))

/** What comes of a recovery code at a sign-in. */
async function signInWith(code: unknown) {
  const { flow } = await halfway(fixture, email)
  return fixture.send(flow, lookup(code))
}

/** All that is kept of somebody's recovery codes. */
const kept = (): Json[] => {
  const row = rowsOf(fixture.app, 'gate_credentials').find(
    ({ identity_id, type }) => identity_id === identity.id && type === 'lookup_secret',
  )
  return row ? JSON.parse(row.config).codes : []
}

/** Makes them, and does not say that they are written down. */
async function shown() {
  const flow = await fixture.settings(token)
  const body = await fixture.sendWell(flow, CODES.make, withToken(token))
  return { flow: body, codes: codesShown(body) }
}

describe('recovery codes are made', () => {
  test('ten of them, all different, easy to copy', async () => {
    const { codes } = await shown()
    expect(codes).toHaveLength(10)
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/)
  })

  test('and shown until it is said that they are written down', async () => {
    const { flow, codes } = await shown()
    expect(flow).toMatchObject({ state: 'show_form', active: 'lookup_secret' })
    expect(lookupNodes(flow)).toEqual([
      'lookup_secret:lookup_secret_codes',
      'lookup_secret:lookup_secret_confirm=true',
    ])

    const again = (await read(fixture, flow.ui.action, withToken(token))).body
    expect(codesShown(again)).toEqual(codes)
    const failed = await fixture.send(flow, { method: 'password', password: 'x' }, withToken(token))
    expect(codesShown(failed.body)).toEqual(codes)

    const done = await fixture.sendWell(flow, CODES.keep, withToken(token))
    expect(done.state).toBe('success')
    for (const text of [done, (await read(fixture, flow.ui.action, withToken(token))).body])
      expect(JSON.stringify(text)).not.toContain(codes[0] as string)
  })

  test('anew when asked again, and those before are shown no more', async () => {
    const { flow, codes } = await shown()
    const next = codesShown(await fixture.sendWell(flow, CODES.make, withToken(token)))
    expect(next).toHaveLength(10)
    expect(next.filter((code) => codes.includes(code))).toEqual([])
    await fixture.sendWell(flow, CODES.keep, withToken(token))
    expect(await signInWith(codes[0])).toMatchObject(complains(4000016, 'lookup_secret'))
    expect(await signInWith(next[0])).toMatchObject({ status: 200 })
  })

  test('and count from then on, not before', async () => {
    const { flow, codes } = await shown()
    expect(kept()).toEqual([])
    const half = await halfway(fixture, email)
    expect(nodeNames(half.flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
    expect(await fixture.send(half.flow, lookup(codes[0]))).toMatchObject({ status: 422 })

    await fixture.sendWell(flow, CODES.keep, withToken(token))

    expect(await fixture.send(half.flow, lookup(codes[0]))).toMatchObject({ status: 200 })
  })

  test('while those before are good until then, and not longer', async () => {
    const old = await recoveryCodes(fixture, token)
    const { flow, codes } = await shown()
    expect(await signInWith(old[0])).toMatchObject({ status: 200 })
    expect(await signInWith(codes[0])).toMatchObject(complains(4000016, 'lookup_secret'))

    await fixture.sendWell(flow, CODES.keep, withToken(token))

    expect(await signInWith(old[1])).toMatchObject(complains(4000016, 'lookup_secret'))
    expect(await signInWith(codes[0])).toMatchObject({ status: 200 })
  })

  test('and not kept with a flow that ends otherwise', async () => {
    const { flow, codes } = await shown()
    await fixture.sendWell(flow, { method: 'profile', traits: { email } }, withToken(token))
    expect(await fixture.send(flow, CODES.keep, withToken(token))).toMatchObject(complains(4050001))
    expect(kept()).toEqual([])
    expect(await signInWith(codes[0])).toMatchObject({ status: 422 })
  })

  test('not by saying that they are written down before they are seen', async () => {
    const flow = await fixture.settings(token)
    expect(await fixture.send(flow, CODES.keep, withToken(token))).toMatchObject(complains(4000014))
    expect(kept()).toEqual([])
  })

  test('and noted, without any of them', async () => {
    const codes = await recoveryCodes(fixture, token)
    expect(actionsOn(fixture.app, `identity:${identity.id}`)).toContain(
      'identity.recovery_codes_made',
    )
    expect(fixture.app.log.join('')).not.toContain(codes[0] as string)
  })

  test('and in no table as they are written, shown or typed', async () => {
    const { flow, codes } = await shown()
    const spellings = (code: string) => [code, code.replace('-', ''), code.toUpperCase()]
    for (const code of codes.flatMap(spellings)) expect(tablesWith(fixture.app, code)).toEqual({})
    await fixture.sendWell(flow, CODES.keep, withToken(token))
    for (const code of codes.flatMap(spellings)) expect(tablesWith(fixture.app, code)).toEqual({})
    expect(kept()).toHaveLength(10)
    for (const code of kept())
      expect(code).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{64}$/), usedAt: null })
  })

  test('and not in the file of the database either', async () => {
    const codes = await recoveryCodes(fixture, token)
    const { file } = fixture.app.db
    const bytes = [file, `${file}-wal`]
      .map((name) => readFileSync(name).toString('latin1'))
      .join('')
    expect(bytes).toContain(kept()[0].hash)
    for (const code of codes)
      for (const spelling of [code, code.replace('-', '')]) expect(bytes).not.toContain(spelling)
  })

  test('with hashes that no one else’s codes would have', async () => {
    const [code = ''] = await recoveryCodes(fixture, token)
    const plain = code.replace('-', '')
    const guesses = [code, plain, `${identity.id} ${plain}`].flatMap((text) =>
      ['sha256', 'sha1', 'md5'].map((kind) =>
        new Bun.CryptoHasher(kind as 'sha256').update(text).digest('hex'),
      ),
    )
    for (const { hash } of kept()) expect(guesses).not.toContain(hash)
  })
})

describe('a recovery code', () => {
  test('takes the place of the authenticator, in the same session', async () => {
    const [code] = await recoveryCodes(fixture, token)
    const { flow, token: half } = await halfway(fixture, email)
    expect(nodeNames(flow)).toEqual([
      'totp:totp_code',
      'totp:method=totp',
      'lookup_secret:lookup_secret',
      'lookup_secret:method=lookup_secret',
    ])

    expect(await fixture.send(flow, lookup(code))).toMatchObject({
      status: 200,
      body: { session_token: half, session: { authenticator_assurance_level: 'aal2' } },
    })

    const { authentication_methods: methods } = await sessionOf(fixture, half)
    expect(methods.map(({ method, aal }: Json) => [method, aal])).toEqual([
      ['password', 'aal1'],
      ['lookup_secret', 'aal2'],
    ])
  })

  test('says by its field what it is', async () => {
    const [lookup_secret] = await recoveryCodes(fixture, token)
    const { flow } = await halfway(fixture, email)
    expect(await fixture.send(flow, { lookup_secret })).toMatchObject({ status: 200 })
  })

  test('is good once; the others are good then as well, each once', async () => {
    const codes = await recoveryCodes(fixture, token)
    for (const code of codes) {
      expect(await signInWith(code)).toMatchObject({ status: 200 })
      expect(await signInWith(code)).toMatchObject(complains(4000012, 'lookup_secret'))
    }
    expect(kept().every(({ usedAt }) => typeof usedAt === 'number')).toBe(true)
  })

  test('of two who bring it at once lets one in', async () => {
    const [code] = await recoveryCodes(fixture, token)
    const halves = [await halfway(fixture, email), await halfway(fixture, email)]
    const answers = await Promise.all(halves.map(({ flow }) => fixture.send(flow, lookup(code))))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422])
    expect(answers.find(({ status }) => status === 422)).toMatchObject(
      complains(4000012, 'lookup_secret'),
    )
  })

  test.each([
    ['in capitals', (code: string) => code.toUpperCase()],
    ['without its dash', (code: string) => code.replace('-', '')],
    ['with dashes everywhere', (code: string) => [...code.replace('-', '')].join('-')],
    ['with blanks around and within', (code: string) => ` ${code.replace('-', ' ')} `],
    ['with another dash', (code: string) => code.replace('-', '–')],
    ['with letters for digits', (code: string) => code.replaceAll('0', 'O').replaceAll('1', 'l')],
  ])('may be typed %s', async (_, typed) => {
    const [code = ''] = await recoveryCodes(fixture, token)
    expect(await signInWith(typed(code))).toMatchObject({ status: 200 })
    expect(await signInWith(code)).toMatchObject(complains(4000012, 'lookup_secret'))
  })

  test.each([
    ['a wrong one', 'zzzz-zzzz', 4000016],
    ['half of one', 'zzzz', 4000016],
    ['a long text', 'z'.repeat(1000), 4000016],
    ['an endless text', 'z'.repeat(5000), 4000026],
    ['nothing', '', 4000002],
    ['no text', 12345678, 4000026],
  ])('is refused where it is %s, and not shown again', async (_, typed, id) => {
    await recoveryCodes(fixture, token)
    const answer = await signInWith(typed)
    expect(node(answer.body, 'lookup_secret').attributes.value).toBe('')
    expect(answer).toMatchObject(complains(id, 'lookup_secret'))
  })

  test('of somebody else is a wrong one', async () => {
    await recoveryCodes(fixture, token)
    const other = await enrolled(fixture, `other-${email}`)
    const [theirs] = await recoveryCodes(fixture, other.token)
    expect(await signInWith(theirs)).toMatchObject(complains(4000016, 'lookup_secret'))
  })

  test('is none that an authenticator shows, and the other way round', async () => {
    const [code] = await recoveryCodes(fixture, token)
    const { flow } = await halfway(fixture, email)
    expect(await fixture.send(flow, { method: 'totp', totp_code: code })).toMatchObject(
      complains(4000008, 'totp_code'),
    )
    expect(await fixture.send(flow, lookup(nextCode(fixture, secret)))).toMatchObject(
      complains(4000016, 'lookup_secret'),
    )
  })
})

describe('recovery codes that there are', () => {
  test('are shown to nobody again', async () => {
    const codes = await recoveryCodes(fixture, token)
    const flow = await fixture.settings(token)
    expect(lookupNodes(flow)).toEqual([
      'lookup_secret:lookup_secret_regenerate=true',
      'lookup_secret:lookup_secret_disable=true',
    ])
    const fields = { method: 'lookup_secret', lookup_secret_reveal: true }
    const answer = await fixture.send(flow, fields, withToken(token))
    expect(JSON.stringify(answer.body)).not.toContain(codes[0] as string)
    expect(messageIds(answer.body)).toEqual([4900007])
    expect(answer.status).toBe(422)
  })

  test('are removed by their button, and the authenticator stays', async () => {
    const [code] = await recoveryCodes(fixture, token)
    expect(await fixture.change(token, CODES.remove)).toMatchObject({
      status: 200,
      body: { state: 'success' },
    })

    expect(kept()).toEqual([])
    expect(actionsOn(fixture.app, `identity:${identity.id}`)).toContain(
      'identity.recovery_codes_removed',
    )
    const { flow } = await halfway(fixture, email)
    expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
    expect(await fixture.send(flow, lookup(code))).toMatchObject({ status: 422 })
    expect(lookupNodes(await fixture.settings(token))).toEqual([
      'lookup_secret:lookup_secret_regenerate=true',
    ])
  })

  test('are shown as one credential, of which nothing is told', async () => {
    const codes = await recoveryCodes(fixture, token)
    const { credentials } = await fixture.readIdentity(identity)
    expect(Object.keys(credentials).toSorted()).toEqual(['lookup_secret', 'password', 'totp'])
    expect(Object.keys(credentials.lookup_secret).toSorted()).toEqual([
      'created_at',
      'identifiers',
      'type',
      'updated_at',
      'version',
    ])
    expect(JSON.stringify(credentials)).not.toContain(codes[0] as string)
  })

  test('do not let anybody in without the authenticator that they stand in for', async () => {
    const { session_token, identity: other } = await fixture.register(`none-${email}`)
    const codes = await recoveryCodes(fixture, session_token)
    expect((await fixture.readIdentity(other)).credentials).toHaveProperty('lookup_secret')
    const { session } = await fixture.signIn(`none-${email}`)
    expect(session.identity).toMatchObject({ id: other.id })
    const flow = await fixture.start('login')
    expect(await fixture.send(flow, lookup(codes[0]))).toMatchObject(complains(4010002))
  })
})
