import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Json } from '../../fixture.ts'
import { actionsOn, rowsOf, tablesWith } from '../../fixture.ts'
import { ADA, BOB, CODES, codesShown, complains, withToken } from './acts.ts'
import { type Tenant, useFlows } from './code-fixture.ts'
import { messageIds, node, nodeNames } from './fixture.ts'

const flows = await useFlows()
const { app } = flows

const WRONG = complains(4000016, 'lookup_secret')
const USED = complains(4000012, 'lookup_secret')
const GOOD = { status: 200 }

/** A tenant, and a person with an authenticator. */
async function withAuthenticator() {
  const acme = await flows.newTenant({ mfa_enabled: true })
  return { acme, ...(await acme.enrolled()) }
}

/** The same with recovery codes. */
async function withCodes() {
  const of = await withAuthenticator()
  const codes = await of.acme.makeRecoveryCodes(of.token)
  return { ...of, codes, code: codes[0] as string }
}

const lookup = (lookup_secret: unknown) => ({ method: 'lookup_secret', lookup_secret })
const lookupNodes = (flow: Json) =>
  nodeNames(flow).flatMap((name) => /^lookup_secret:(.*)/.exec(name)?.[1] ?? [])

/** A sign-in with a recovery code. */
const signInWith = async (acme: Tenant, code: unknown) =>
  acme.send((await acme.halfway()).flow, lookup(code))

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

test('New recovery codes are ten different ones, shown until they are confirmed', async () => {
  const { acme, token } = await withAuthenticator()
  const { flow, codes, keep } = await shown(acme, token)
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$/)
  expect(flow).toMatchObject({ state: 'show_form', active: 'lookup_secret' })
  expect(lookupNodes(flow)).toEqual(['lookup_secret_codes', 'lookup_secret_confirm=true'])
  const failed = await acme.send(flow, { method: 'password', password: 'x' }, withToken(token))
  expect(codesShown(failed.body)).toEqual(codes)
  expect((await keep()).body.state).toBe('success')
  const { body } = await acme.readAt(flow.ui.action, withToken(token))
  expect(JSON.stringify(body)).not.toContain(codes[0] as string)
})

test('New recovery codes work once they are confirmed; earlier ones work until then', async () => {
  const { acme, token } = await withAuthenticator()
  const first = await shown(acme, token)
  expect(await signInWith(acme, first.codes[0])).toMatchObject({ status: 422 })
  await first.keep()
  expect(await signInWith(acme, first.codes[0])).toMatchObject(GOOD)

  const second = await shown(acme, token)
  // A flow shows one set of codes: the latest.
  const next = codesShown(await acme.sendWell(second.flow, CODES.make, withToken(token)))
  expect(next.filter((code) => second.codes.includes(code))).toEqual([])
  expect(await signInWith(acme, first.codes[1])).toMatchObject(GOOD)
  expect(await signInWith(acme, next[0])).toMatchObject(WRONG)
  await second.keep()
  for (const code of [first.codes[2], second.codes[0]])
    expect(await signInWith(acme, code)).toMatchObject(WRONG)
  expect(await signInWith(acme, next[0])).toMatchObject(GOOD)
})

test('New recovery codes are not stored if the flow ends otherwise, or before they were shown', async () => {
  const { acme, token, identity } = await withAuthenticator()
  expect(await acme.change(token, CODES.keep)).toMatchObject(complains(4000014))
  const { flow, keep } = await shown(acme, token)
  await acme.sendWell(flow, { method: 'profile', traits: { email: ADA } }, withToken(token))
  expect(await keep()).toMatchObject(complains(4050001))
  expect(kept(identity)).toEqual([])
})

test('New recovery codes are audited, and stored as hashes that differ between people', async () => {
  const { acme, token, identity } = await withAuthenticator()
  const { codes, keep } = await shown(acme, token)
  const [code = ''] = codes
  const plain = code.replace('-', '')
  for (const text of [code, plain]) expect(tablesWith(app, text)).toEqual({})
  await keep()
  expect(actionsOn(app, `identity:${identity.id}`)).toContain('identity.recovery_codes_made')
  expect(app.log.join('')).not.toContain(code)

  const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect(kept(identity)).toEqual(Array.from({ length: 10 }, () => ({ hash, usedAt: null })))
  const { file } = app.db
  const bytes = [file, `${file}-wal`].map((name) => readFileSync(name).toString('latin1')).join('')
  expect(bytes).toContain(kept(identity)[0].hash)
  for (const text of [code, plain]) expect(bytes).not.toContain(text)
  const guesses = [code, plain, `${identity.id} ${plain}`].map((text) =>
    new Bun.CryptoHasher('sha256').update(text).digest('hex'),
  )
  for (const { hash } of kept(identity)) expect(guesses).not.toContain(hash)
})

test('A recovery code replaces the code of the authenticator, in the same session', async () => {
  const { acme, code } = await withCodes()
  const { flow, token: half } = await acme.halfway()
  const fields = ['lookup_secret:lookup_secret', 'lookup_secret:method=lookup_secret']
  expect(nodeNames(flow)).toEqual(['totp:totp_code', 'totp:method=totp', ...fields])
  const session = { authenticator_assurance_level: 'aal2' }
  const done = { status: 200, body: { session_token: half, session } }
  expect(await acme.send(flow, { lookup_secret: code })).toMatchObject(done)
  const { authentication_methods: methods } = await acme.sessionOf(half)
  expect(methods.at(-1)).toMatchObject({ method: 'lookup_secret', aal: 'aal2' })
})

test('A recovery code works once, for one of two sign-ins at once', async () => {
  const { acme, identity, codes, code } = await withCodes()
  const halves = [await acme.halfway(), await acme.halfway()]
  const answers = await Promise.all(halves.map(({ flow }) => acme.send(flow, lookup(code))))
  const [good, refused] = answers.toSorted((a, b) => a.status - b.status)
  expect(good).toMatchObject(GOOD)
  expect(refused).toMatchObject(USED)
  expect(await signInWith(acme, codes[1])).toMatchObject(GOOD)
  expect(await signInWith(acme, codes[1])).toMatchObject(USED)
  expect(kept(identity).filter(({ usedAt }) => typeof usedAt === 'number')).toHaveLength(2)
})

test('A wrong recovery code is refused, and not shown again', async () => {
  const { acme, secret } = await withCodes()
  const bob = await acme.enrolled(BOB)
  const [bobs] = await acme.makeRecoveryCodes(bob.token)
  const { flow } = await acme.halfway()
  const wrong = ['zzzz-zzzz', bobs, acme.nextCode(secret)].map((typed) => [typed, 4000016] as const)
  for (const [typed, id] of [...wrong, ['z'.repeat(5000), 4000026], ['', 4000002]] as const) {
    const answer = await acme.send(flow, lookup(typed))
    expect(node(answer.body, 'lookup_secret').attributes.value).toBe('')
    expect(answer).toMatchObject(complains(id, 'lookup_secret'))
  }
})

test('Recovery codes are no way in without an authenticator', async () => {
  const acme = await flows.newTenant({ mfa_enabled: true })
  const { session_token, identity } = await acme.register(ADA)
  const [code] = await acme.makeRecoveryCodes(session_token)
  expect((await acme.signIn(ADA)).session.identity).toMatchObject({ id: identity.id })
  const flow = await acme.start('login')
  expect(await acme.send(flow, lookup(code))).toMatchObject(complains(4010002))
})

test('Recovery codes are not shown again, and are removed without the authenticator', async () => {
  const { acme, token, identity, code } = await withCodes()
  const flow = await acme.settings(token)
  expect(lookupNodes(flow)).toEqual(['lookup_secret_regenerate=true', 'lookup_secret_disable=true'])
  const reveal = { method: 'lookup_secret', lookup_secret_reveal: true }
  const { status, body } = await acme.send(flow, reveal, withToken(token))
  expect([status, messageIds(body)]).toEqual([422, [4900007]])
  const { credentials } = await acme.readIdentity(identity)
  expect(Object.keys(credentials).toSorted()).toEqual(['lookup_secret', 'password', 'totp'])
  for (const text of [body, credentials]) expect(JSON.stringify(text)).not.toContain(code)

  const removed = await acme.change(token, CODES.remove)
  expect(removed).toMatchObject({ status: 200, body: { state: 'success' } })
  expect(kept(identity)).toEqual([])
  expect(actionsOn(app, `identity:${identity.id}`)).toContain('identity.recovery_codes_removed')
  const half = await acme.halfway()
  expect(nodeNames(half.flow)).toEqual(['totp:totp_code', 'totp:method=totp'])
  expect(await acme.send(half.flow, lookup(code))).toMatchObject({ status: 422 })
})
