import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { IDENTITIES, UNKNOWN_ID } from '../fixture.ts'
import { bootFlows, type FlowFixture, flowParty, PASSWORD } from '../sign-in/flows/fixture.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootFlows()
  await fixture.security({ mfa_enabled: true })
})
afterAll(() => fixture[Symbol.asyncDispose]())

const take = ({ id }: { id: string }, type: string) =>
  fixture.api.delete(`${IDENTITIES}/${id}/credentials/${type}`)

describe('Removing a credential', () => {
  test('of a lost authenticator makes one factor enough again', async () => {
    const { session_token: token, identity } = await fixture.register('ada@example.com')
    await fixture.enrol(token)
    expect((await fixture.signIn('ada@example.com')).session.identity).toBeNull()

    expect(await take(identity, 'totp')).toMatchObject({ status: 204 })

    const { session } = await fixture.signIn('ada@example.com')
    expect(session).toMatchObject({ identity: { id: identity.id } })
    expect(Object.keys((await fixture.readIdentity(identity)).credentials)).toEqual(['password'])
  })

  test('removes the password and nothing else', async () => {
    const { session_token: token, identity } = await fixture.register('grace@example.com')

    expect(await take(identity, 'password')).toMatchObject({ status: 204 })

    expect(await fixture.tryPassword('grace@example.com', PASSWORD)).toMatchObject({ status: 422 })
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
  })

  test('that does not exist succeeds', async () => {
    const person = await fixture.createIdentity()

    for (const type of ['password', 'totp', 'lookup_secret', 'oidc'])
      expect(await take(person, type)).toMatchObject({ status: 204 })
  })

  test('needs one of four types', async () => {
    const answer = await take(await fixture.createIdentity(), 'code')

    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'type: must be one of password, totp, lookup_secret, oidc' },
    })
  })

  test("is refused for another tenant's identity", async () => {
    const others = await flowParty(fixture.app)
    const theirs = await others.register('ada@example.com')

    expect(await take(theirs.identity, 'password')).toMatchObject({ status: 403 })
    expect(await take({ id: UNKNOWN_ID }, 'password')).toMatchObject({ status: 404 })
    expect(await others.tryPassword('ada@example.com')).toMatchObject({ status: 200 })
  })
})
