import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Json } from '../../fixture.ts'
import { actionsOn, rowsOf, tablesWith } from '../../identities/people.ts'
import {
  ADA,
  BOB,
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
import { type Tenant, useFlows } from './code-fixture.ts'
import { messageIds, node, nodeNames } from './fixture.ts'

const flows = await useFlows()
const { app } = flows

/** A tenant, and a person with an authenticator. */
async function withAuthenticator() {
  const acme = await flows.newTenant({ mfa_enabled: true })
  return { acme, ...(await enrolled(acme)) }
}

/** The same with recovery codes. */
async function withCodes() {
  const of = await withAuthenticator()
  const codes = await recoveryCodes(of.acme, of.token)
  return { ...of, codes, code: codes[0] as string }
}

const lookup = (lookup_secret: unknown) => ({ method: 'lookup_secret', lookup_secret })
const lookupNodes = (flow: Json) =>
  nodeNames(flow).filter((name) => name.startsWith('lookup_secret:'))

/** A sign-in with a recovery code. */
async function signInWith(acme: Tenant, code: unknown) {
  const { flow } = await halfway(acme)
  return acme.send(flow, lookup(code))
}

const WRONG = complains(4000016, 'lookup_secret')
const USED = complains(4000012, 'lookup_secret')
const GOOD = { status: 200 }

/** The stored recovery codes. */
const kept = (identity: Json): Json[] => {
  const row = rowsOf(app, 'gate_credentials').find(
    ({ identity_id, type }) => identity_id === identity.id && type === 'lookup_secret',
  )
  return row ? JSON.parse(row.config).codes : []
}

/** Creates codes without confirming them. */
async function shown(acme: Tenant, token: string) {
  const flow = await acme.sendWell(await acme.settings(token), CODES.make, withToken(token))
  const keep = () => acme.send(flow, CODES.keep, withToken(token))
  return { flow, codes: codesShown(flow), keep }
}

describe('new recovery codes', () => {
  test('are ten different ones, shown until they are confirmed', async () => {
    const { acme, token } = await withAuthenticator()
    const { flow, codes, keep } = await shown(acme, token)
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/)
    expect(flow).toMatchObject({ state: 'show_form', active: 'lookup_secret' })
    const shownNodes = ['lookup_secret_codes', 'lookup_secret_confirm=true']
    expect(lookupNodes(flow)).toEqual(shownNodes.map((name) => `lookup_secret:${name}`))
    const again = await read(acme, flow.ui.action, withToken(token))
    const failed = await acme.send(flow, { method: 'password', password: 'x' }, withToken(token))
    for (const { body } of [again, failed]) expect(codesShown(body)).toEqual(codes)

    const done = (await keep()).body
    expect(done.state).toBe('success')
    for (const text of [done, (await read(acme, flow.ui.action, withToken(token))).body])
      expect(JSON.stringify(text)).not.toContain(codes[0] as string)
  })

  test('work once they are confirmed; earlier ones work until then', async () => {
    const { acme, token, identity, codes: old } = await withCodes()
    const { codes, keep } = await shown(acme, token)
    expect(await signInWith(acme, old[0])).toMatchObject(GOOD)
    expect(await signInWith(acme, codes[0])).toMatchObject(WRONG)
    await keep()
    expect(await signInWith(acme, old[1])).toMatchObject(WRONG)
    expect(await signInWith(acme, codes[0])).toMatchObject(GOOD)
    expect(kept(identity)).toHaveLength(10)
  })

  test('are offered at a sign-in once they are confirmed', async () => {
    const { acme, token, identity } = await withAuthenticator()
    const { codes, keep } = await shown(acme, token)
    const { flow } = await halfway(acme)
    expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
    expect(await acme.send(flow, lookup(codes[0]))).toMatchObject({ status: 422 })
    expect(kept(identity)).toEqual([])
    await keep()
    expect(await acme.send(flow, lookup(codes[0]))).toMatchObject(GOOD)
  })

  test('replace those that the same flow has shown', async () => {
    const { acme, token } = await withAuthenticator()
    const { flow, codes, keep } = await shown(acme, token)
    const next = codesShown(await acme.sendWell(flow, CODES.make, withToken(token)))
    expect(next.filter((code) => codes.includes(code))).toEqual([])
    await keep()
    expect(await signInWith(acme, codes[0])).toMatchObject(WRONG)
    expect(await signInWith(acme, next[0])).toMatchObject(GOOD)
  })

  test('are not stored if the flow ends otherwise, or before they were shown', async () => {
    const { acme, token, identity } = await withAuthenticator()
    expect(await acme.change(token, CODES.keep)).toMatchObject(complains(4000014))
    const { flow, codes, keep } = await shown(acme, token)
    await acme.sendWell(flow, { method: 'profile', traits: { email: ADA } }, withToken(token))
    expect(await keep()).toMatchObject(complains(4050001))
    expect(kept(identity)).toEqual([])
    expect(await signInWith(acme, codes[0])).toMatchObject({ status: 422 })
  })

  test('are audited, and stored as hashes that differ between people', async () => {
    const { acme, token, identity } = await withAuthenticator()
    const { codes, keep } = await shown(acme, token)
    const spellings = codes.flatMap((code) => [code, code.replace('-', ''), code.toUpperCase()])
    for (const text of spellings) expect(tablesWith(app, text)).toEqual({})
    await keep()
    for (const text of spellings) expect(tablesWith(app, text)).toEqual({})
    expect(actionsOn(app, `identity:${identity.id}`)).toContain('identity.recovery_codes_made')
    expect(app.log.join('')).not.toContain(codes[0] as string)

    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(kept(identity)).toEqual(Array.from({ length: 10 }, () => ({ hash, usedAt: null })))
    const { file } = app.db
    const bytes = [file, `${file}-wal`].map((name) => readFileSync(name).toString('latin1'))
    expect(bytes.join('')).toContain(kept(identity)[0].hash)
    for (const text of spellings) expect(bytes.join('')).not.toContain(text)
    const [code = '', plain = ''] = spellings
    const guesses = [code, plain, `${identity.id} ${plain}`].flatMap((text) =>
      (['sha256', 'sha1', 'md5'] as const).map((kind) =>
        new Bun.CryptoHasher(kind).update(text).digest('hex'),
      ),
    )
    for (const { hash } of kept(identity)) expect(guesses).not.toContain(hash)
  })
})

describe('a recovery code', () => {
  test('replaces the code of the authenticator, in the same session', async () => {
    const { acme, code } = await withCodes()
    const { flow, token: half } = await halfway(acme)
    const fields = ['lookup_secret:lookup_secret', 'lookup_secret:method=lookup_secret']
    expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp', ...fields])
    expect(await acme.send(flow, { lookup_secret: code })).toMatchObject({
      status: 200,
      body: { session_token: half, session: { authenticator_assurance_level: 'aal2' } },
    })
    const { authentication_methods: methods } = await sessionOf(acme, half)
    expect(methods.map(({ method, aal }: Json) => [method, aal])).toEqual([
      ['password', 'aal1'],
      ['lookup_secret', 'aal2'],
    ])
  })

  test('works once, as do the others', async () => {
    const { acme, identity, codes } = await withCodes()
    for (const code of codes) {
      expect(await signInWith(acme, code)).toMatchObject(GOOD)
      expect(await signInWith(acme, code)).toMatchObject(USED)
    }
    expect(kept(identity).every(({ usedAt }) => typeof usedAt === 'number')).toBe(true)
  })

  test('works for one of two sign-ins at once', async () => {
    const { acme, code } = await withCodes()
    const halves = [await halfway(acme), await halfway(acme)]
    const answers = await Promise.all(halves.map(({ flow }) => acme.send(flow, lookup(code))))
    const [good, refused] = answers.toSorted((a, b) => a.status - b.status)
    expect(good).toMatchObject(GOOD)
    expect(refused).toMatchObject(USED)
  })

  test('may be typed in capitals, with other dashes and blanks, and with letters for digits', async () => {
    const { acme, codes } = await withCodes()
    const spellings = [
      (code: string) => code.toUpperCase(),
      (code: string) => code.replace('-', ''),
      (code: string) => [...code.replace('-', '')].join('-'),
      (code: string) => ` ${code.replace('-', ' ')} `,
      (code: string) => code.replace('-', '–'),
      (code: string) => code.replaceAll('0', 'O').replaceAll('1', 'l'),
    ]
    for (const [at, spell] of spellings.entries()) {
      const code = codes[at] as string
      expect(await signInWith(acme, spell(code)), spell(code)).toMatchObject(GOOD)
      expect(await signInWith(acme, code), code).toMatchObject(USED)
    }
  })

  test('is refused if it is wrong, and not shown again', async () => {
    const { acme, secret } = await withCodes()
    const bob = await enrolled(acme, BOB)
    const [bobs] = await recoveryCodes(acme, bob.token)
    const { flow } = await halfway(acme)
    for (const [typed, id] of [
      ['zzzz-zzzz', 4000016],
      ['zzzz', 4000016],
      ['z'.repeat(1000), 4000016],
      ['z'.repeat(5000), 4000026],
      ['', 4000002],
      [12345678, 4000026],
      [bobs, 4000016],
      [nextCode(acme, secret), 4000016],
    ] as const) {
      const answer = await acme.send(flow, lookup(typed))
      expect(node(answer.body, 'lookup_secret').attributes.value).toBe('')
      expect(answer).toMatchObject(complains(id, 'lookup_secret'))
    }
  })

  test('is no code of an authenticator', async () => {
    const { acme, code } = await withCodes()
    const { flow } = await halfway(acme)
    expect(await acme.send(flow, { method: 'totp', totp_code: code })).toMatchObject(
      complains(4000008, 'totp_code'),
    )
  })

  test('is no way in without an authenticator', async () => {
    const acme = await flows.newTenant({ mfa_enabled: true })
    const { session_token, identity } = await acme.register(ADA)
    const [code] = await recoveryCodes(acme, session_token)
    const { session } = await acme.signIn(ADA)
    expect(session.identity).toMatchObject({ id: identity.id })
    const flow = await acme.start('login')
    expect(await acme.send(flow, lookup(code))).toMatchObject(complains(4010002))
  })
})

describe('existing recovery codes', () => {
  test('are not shown again, neither to the user nor to the tenant', async () => {
    const { acme, token, identity, code } = await withCodes()
    const flow = await acme.settings(token)
    const buttons = ['lookup_secret_regenerate=true', 'lookup_secret_disable=true']
    expect(lookupNodes(flow)).toEqual(buttons.map((name) => `lookup_secret:${name}`))
    const fields = { method: 'lookup_secret', lookup_secret_reveal: true }
    const { status, body } = await acme.send(flow, fields, withToken(token))
    expect([status, messageIds(body)]).toEqual([422, [4900007]])

    const { credentials } = await acme.readIdentity(identity)
    expect(Object.keys(credentials).toSorted()).toEqual(['lookup_secret', 'password', 'totp'])
    const metadata = ['created_at', 'identifiers', 'type', 'updated_at', 'version']
    expect(Object.keys(credentials.lookup_secret).toSorted()).toEqual(metadata)
    for (const text of [body, credentials]) expect(JSON.stringify(text)).not.toContain(code)
  })

  test('are removed without the authenticator', async () => {
    const { acme, token, identity, code } = await withCodes()
    const removed = await acme.change(token, CODES.remove)
    expect(removed).toMatchObject({ status: 200, body: { state: 'success' } })
    expect(kept(identity)).toEqual([])
    expect(actionsOn(app, `identity:${identity.id}`)).toContain('identity.recovery_codes_removed')
    const { flow } = await halfway(acme)
    expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
    expect(await acme.send(flow, lookup(code))).toMatchObject({ status: 422 })
    const offered = ['lookup_secret:lookup_secret_regenerate=true']
    expect(lookupNodes(await acme.settings(token))).toEqual(offered)
  })
})
