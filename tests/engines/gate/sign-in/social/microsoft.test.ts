import { afterAll, describe, expect, test } from 'bun:test'
import {
  type Account,
  CONSUMERS,
  newAccount,
  ORGANISATION,
  uuidOf,
} from '../../../../support/social/index.ts'
import { arrive, socialWith, travel } from './client.ts'
import { bootOpenId, claiming } from './openid-fixture.ts'

const { clock, there, social, signIn, refusal, stop } = await bootOpenId()
afterAll(stop)

const ELSEWHERE = uuidOf('another organisation')

const inDirectory = (tid: string, claims = {}) => newAccount({ claims: { tid, ...claims } })

/** A client that lets in whom `directory` stands for; the fake knows one address for all. */
function only(directory: string) {
  const settings = there.providerConfig('microsoft')
  const { baseUrl } = settings
  return {
    ...settings,
    authorizeUrl: `${there.url}/microsoft/${directory}/oauth2/v2.0/authorize`,
    tokenUrl: `${baseUrl}/oauth2/v2.0/token`,
    jwksUrl: `${baseUrl}/discovery/v2.0/keys`,
  }
}

async function outcome(directory: string, account: Account): Promise<string> {
  const client = socialWith({ microsoft: only(directory) }, clock)
  there.signInAs(account)
  there.tamper()
  return arrive(client, await travel(social, 'microsoft')).then(
    () => 'let in',
    (error) => error.message,
  )
}

const KEPT_OUT = 'microsoft: the ID token is from a different issuer'

test.each([
  ['common', ORGANISATION, 'let in'],
  ['common', CONSUMERS, 'let in'],
  ['organizations', ORGANISATION, 'let in'],
  ['organizations', ELSEWHERE, 'let in'],
  ['organizations', CONSUMERS, KEPT_OUT],
  ['consumers', CONSUMERS, 'let in'],
  ['consumers', ORGANISATION, KEPT_OUT],
  [ORGANISATION, ORGANISATION, 'let in'],
  [ORGANISATION, ELSEWHERE, KEPT_OUT],
  [ORGANISATION, CONSUMERS, KEPT_OUT],
])('the address for %s meets directory %s: %s', async (directory, tid, expected) => {
  expect(await outcome(directory, inDirectory(tid))).toBe(expected)
})

test('an issuer that is spelt out lets one directory in', async () => {
  const issuer = `${there.url}/microsoft/${ORGANISATION}/v2.0`
  const client = socialWith({ microsoft: { ...there.providerConfig('microsoft'), issuer } }, clock)
  const comeFrom = async (tid: string) => {
    there.tamper()
    there.signInAs(inDirectory(tid))
    return arrive(client, await travel(client, 'microsoft'))
  }

  expect((await comeFrom(ORGANISATION)).subject).toStartWith(`${there.url}/microsoft#`)
  await expect(comeFrom(ELSEWHERE)).rejects.toThrow(KEPT_OUT)
})

test('one directory does not speak for another', async () => {
  const error = await refusal('microsoft', claiming({ tid: ELSEWHERE }))

  expect(error.message).toContain('tid differs from the directory')
})

test.each([
  ['tid', 'common'],
  ['tid', undefined],
  ['tid', [ORGANISATION]],
  ['oid', undefined],
  ['oid', ['x']],
  ['oid', 'x'],
])('without a sound %s nobody is known (%#)', async (name, value) => {
  const error = await refusal('microsoft', claiming({ [name]: value }))

  expect(error.reason).toBe('failed')
  expect(error.message).toContain(`${name} is`)
})

test('people are known by directory and object, not by subject or name', async () => {
  const oid = uuidOf('somebody')
  const one = newAccount({ claims: { oid } })
  const other = newAccount({ claims: { oid, preferred_username: one.email, upn: one.email } })

  const [first, second] = [await signIn('microsoft', one), await signIn('microsoft', other)]
  const third = await signIn('microsoft', inDirectory(ELSEWHERE, { oid }))

  expect(second.subject).toBe(first.subject)
  expect(third.subject).not.toBe(first.subject)
})

describe('an address', () => {
  const cases: [string, Record<string, unknown>, boolean][] = [
    ['is not vouched for by nothing', {}, false],
    ['is by xms_edov', { xms_edov: true }, true],
    ['is by xms_edov as a number', { xms_edov: 1 }, true],
    ['is by xms_edov as a text', { xms_edov: 'true' }, true],
    ['is not by xms_edov that is false', { xms_edov: false }, false],
    ['is not by xms_edov that is the word false', { xms_edov: 'false' }, false],
    ['is not by email_verified, which is not theirs', { email_verified: true }, false],
    ['is not by a name like it', { preferred_username: 'me@example.com' }, false],
    [
      'is by its place among the verified',
      { verified_primary_email: ['other@example.com', 'ME@example.com'] },
      true,
    ],
    ['is not by another', { verified_primary_email: ['other@example.com'] }, false],
    ['is not by a text', { verified_primary_email: 'me@example.com' }, false],
    ['is by the directory of personal accounts', { tid: CONSUMERS }, true],
  ]

  test.each(cases)('%s', async (_, claims, isEmailVerified) => {
    const account = newAccount({ email: 'me@example.com', isVerified: false, claims })

    expect(await signIn('microsoft', account)).toMatchObject({
      email: 'me@example.com',
      isEmailVerified,
    })
  })
})
