import { afterAll, expect, test } from 'bun:test'
import { type Json, personPath, plain, UNKNOWN_ID } from '../fixture.ts'
import { connect } from '../sign-in/flows/acts.ts'
import { bootFlows, flowParty, PASSWORD } from '../sign-in/flows/fixture.ts'

const fixture = await bootFlows()
afterAll(() => fixture[Symbol.asyncDispose]())

const remove = (person: Json, type: string) =>
  fixture.api.delete(personPath(person, `/credentials/${type}`))
const credentialsOf = async (person: Json) =>
  Object.keys((await fixture.readIdentity(person)).credentials)

test('Without a lost authenticator, one factor is enough again', async () => {
  await fixture.security({ mfa_enabled: true })
  const { session_token: token, identity } = await fixture.register('ada@example.com')
  await fixture.enrol(token)
  expect((await fixture.signIn('ada@example.com')).session.identity).toBeNull()
  expect(await remove(identity, 'totp')).toMatchObject({ status: 204 })
  const { session } = await fixture.signIn('ada@example.com')
  expect(session).toMatchObject({ identity: { id: identity.id } })
  expect(await credentialsOf(identity)).toEqual(['password'])
  await fixture.security({ mfa_enabled: false })
})

test('Each of four types is removed alone; removing it again succeeds', async () => {
  const { session_token: token, identity } = await fixture.register('grace@example.com')
  await connect(fixture, identity, 'github', 'grace')
  expect(await credentialsOf(identity)).toEqual(['password', 'oidc'])
  for (const type of ['oidc', 'password', 'totp', 'lookup_secret'])
    for (let n = 0; n < 2; n++) expect(await remove(identity, type)).toMatchObject({ status: 204 })
  expect(await credentialsOf(identity)).toEqual([])
  expect(await fixture.tryPassword('grace@example.com', PASSWORD)).toMatchObject({ status: 422 })
  expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
  const choice = 'type: must be one of password, totp, lookup_secret, oidc'
  expect(await remove(identity, 'code')).toMatchObject(plain(400, choice))
})

test("Another tenant's identity keeps its credentials", async () => {
  const others = await flowParty(fixture.app)
  const { identity } = await others.register('ada@example.com')
  expect(await remove(identity, 'password')).toMatchObject({ status: 403 })
  expect(await remove({ id: UNKNOWN_ID }, 'password')).toMatchObject({ status: 404 })
  expect(await others.tryPassword('ada@example.com')).toMatchObject({ status: 200 })
})
