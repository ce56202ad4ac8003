import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { IDENTITIES, UNKNOWN_ID } from '../fixture.ts'
import { bootFlows, type FlowWorld, flowParty, PASSWORD } from '../sign-in/flows/fixture.ts'

let world: FlowWorld
beforeAll(async () => {
  world = await bootFlows()
  await world.security({ mfa_enabled: true })
})
afterAll(() => world[Symbol.asyncDispose]())

const take = ({ id }: { id: string }, type: string) =>
  world.api.delete(`${IDENTITIES}/${id}/credentials/${type}`)

describe('a credential that is taken away', () => {
  test('of whoever lost the authenticator lets them in with one factor again', async () => {
    const { session_token: token, identity } = await world.register('ada@example.com')
    await world.enrol(token)
    expect((await world.signIn('ada@example.com')).session.identity).toBeNull()

    expect(await take(identity, 'totp')).toMatchObject({ status: 204 })

    const { session } = await world.signIn('ada@example.com')
    expect(session).toMatchObject({ identity: { id: identity.id } })
    expect(Object.keys((await world.readIdentity(identity)).credentials)).toEqual(['password'])
  })

  test('is the password, and that alone', async () => {
    const { session_token: token, identity } = await world.register('grace@example.com')

    expect(await take(identity, 'password')).toMatchObject({ status: 204 })

    expect(await world.tryPassword('grace@example.com', PASSWORD)).toMatchObject({ status: 422 })
    expect(await world.whoami(token)).toMatchObject({ status: 200 })
  })

  test('may be one that there is none of', async () => {
    const person = await world.createIdentity()

    for (const type of ['password', 'totp', 'lookup_secret', 'oidc'])
      expect(await take(person, type)).toMatchObject({ status: 204 })
  })

  test('is one of four kinds', async () => {
    const answer = await take(await world.createIdentity(), 'code')

    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'type: must be one of password, totp, lookup_secret, oidc' },
    })
  })

  test('is one of a person of the tenant', async () => {
    const others = await flowParty(world.app)
    const theirs = await others.register('ada@example.com')

    expect(await take(theirs.identity, 'password')).toMatchObject({ status: 403 })
    expect(await take({ id: UNKNOWN_ID }, 'password')).toMatchObject({ status: 404 })
    expect(await others.tryPassword('ada@example.com')).toMatchObject({ status: 200 })
  })
})
