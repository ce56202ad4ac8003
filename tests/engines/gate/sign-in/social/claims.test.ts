import { describe, expect, test } from 'bun:test'
import type { Api } from '../../../../../src/engines/gate/sign-in/social/provider.ts'
import { providers } from '../../../../../src/engines/gate/sign-in/social/providers/index.ts'
import { CONSUMERS, ORGANISATION, uuidOf } from '../../../../support/social/index.ts'

const OID = uuidOf('object')
const STANDARD = { sub: '42' }
const MINIMUM = {
  ...{ google: STANDARD, gitlab: STANDARD, linkedin: STANDARD, apple: STANDARD, twitch: STANDARD },
  slack: { sub: '42', 'https://slack.com/team_id': 'T1' },
  microsoft: { tid: ORGANISATION, oid: OID, iss: `https://a.example/${ORGANISATION}/v2.0` },
  github: { id: 42 },
  'github-tenant': { id: 42 },
  discord: { id: '42' },
  facebook: { id: '42' },
  spotify: { account_id: '42' },
}
type Name = keyof typeof MINIMUM

/** Responses of an API, by path. */
const apiWith = (answers: Record<string, unknown>, scopes: string[] | null = null) => {
  const asked: string[] = []
  const api: Api = {
    userinfo: 'https://api.example/user',
    scopes,
    accessToken: 'token',
    clientSecret: 'secret',
    get: async (url) => {
      asked.push(url)
      return answers[new URL(url).pathname] ?? []
    },
  }
  return { api, asked }
}

/** The user whom a provider describes with these claims. */
async function personOf(name: Name, claims: Record<string, unknown> = {}, posted = '') {
  const provider = providers[name]
  const all = { ...MINIMUM[name], ...claims }
  if (provider.kind === 'openid') return provider.person(all, new URLSearchParams(posted))
  return provider.person(apiWith({ '/user': all, '/user/emails': claims.emails }).api)
}

const email = 'me@example.com'

describe('A subject', () => {
  test.each<[Name, Record<string, unknown>, string]>([
    ['google', { sub: '~'.repeat(255) }, '~'.repeat(255)],
    ['slack', {}, 'T1:42'],
    ['microsoft', {}, `${ORGANISATION}:${OID}`],
    ['github-tenant', {}, '42'],
    ['spotify', {}, '42'],
    ['spotify', { account_id: null, id: 'ada' }, 'name:ada'],
    ['spotify', { account_id: '', id: '42' }, 'name:42'],
  ])('of %s %j is %s', async (name, claims, subject) => {
    expect((await personOf(name, claims)).subject).toBe(subject)
  })

  test.each<[Name, string, unknown[], string]>([
    ['google', 'sub', [undefined, null, ''], 'sub is missing'],
    ['google', 'sub', [42, ['42'], {}], 'sub is not a string'],
    ['google', 'sub', ['x'.repeat(256), 'a\nb', 'ä', ' ', '\x7f'], 'the subject is too long or'],
    ['slack', 'sub', ['x'.repeat(253)], 'the subject is too long'],
    ['slack', 'https://slack.com/team_id', [undefined], 'team_id is missing'],
    ['microsoft', 'tid', ['common', undefined], 'tid is missing or not a valid ID'],
    ['microsoft', 'tid', [[ORGANISATION]], 'tid is not a string'],
    ['microsoft', 'tid', [uuidOf('x')], 'tid differs from the directory'],
    ['microsoft', 'iss', [undefined, 'https://a.example/v2.0'], 'tid differs from the directory'],
    ['microsoft', 'oid', ['x', undefined, `${OID}0`], 'oid is missing or not a valid ID'],
    ['github', 'id', ['42', 1.5, 0, -1, null, [1], 2 ** 53], 'id is not a valid numeric user ID'],
    ['discord', 'id', [42], 'id is not a string'],
    ['facebook', 'id', [null], 'id is missing'],
    ['spotify', 'account_id', [['x']], 'account_id is not a string'],
  ])('of %s is refused with the %s %j', async (name, claim, values, words) => {
    for (const value of values)
      await expect(personOf(name, { [claim]: value })).rejects.toThrow(words)
  })
})

describe('An address', () => {
  const personal = { tid: CONSUMERS, iss: `https://a.example/${CONSUMERS}/v2.0` }
  const primary = (...addresses: unknown[]) => ({ verified_primary_email: addresses })
  const verified = (...values: unknown[]) => values.map((email_verified) => ({ email_verified }))
  const edov = (...values: unknown[]) => values.map((xms_edov) => ({ xms_edov }))
  const trusting = { verified: true, email_verified: true }

  test.each<[Name, Record<string, unknown>[], Record<string, unknown>[]]>([
    ['google', verified(true, 'true'), verified('false', 1, [true], undefined)],
    ['apple', verified('true'), verified('false')],
    ['gitlab', verified(true), verified('true')],
    ['linkedin', verified(true), verified('true')],
    ['twitch', verified(true), verified('true')],
    ['slack', [], verified(true)],
    ['discord', [{ verified: true }], [{ verified: 'true' }]],
    ['facebook', [], [trusting]],
    ['spotify', [], [trusting]],
    ['microsoft', edov(true, 1, 'true', '1'), edov(false, 'false', undefined)],
    ['microsoft', [primary('other@example.com', 'ME@example.com'), personal], verified(true)],
    ['microsoft', [{ verified_secondary_email: [email] }], [{ preferred_username: email }]],
    ['microsoft', [], [primary('other@example.com', 7), { verified_primary_email: email }]],
  ])('of %s is verified with one of %j, not of %j', async (name, good, bad) => {
    for (const claims of [...good, ...bad])
      expect(await personOf(name, { email, ...claims }), JSON.stringify(claims)).toMatchObject({
        email,
        isEmailVerified: good.includes(claims),
      })
  })

  test('of GitHub is the primary one', async () => {
    const other = { email: 'a@x.example', primary: false, verified: true }
    const personWith = (...emails: object[]) =>
      personOf('github', { email: 'public@example.com', emails: [other, ...emails] })
    for (const verified of [true, false, 'true'])
      expect(await personWith({ email, primary: true, verified })).toMatchObject({
        email,
        isEmailVerified: verified === true,
      })
    expect(await personWith()).toMatchObject({ email: undefined, isEmailVerified: false })
  })

  test('of GitHub is read only with a scope for it, from a list of objects', async () => {
    const { person } = providers.github as Extract<typeof providers.github, { kind: 'oauth' }>
    for (const scopes of [null, ['read:user', 'user:email'], ['user'], ['read:user']]) {
      const { api, asked } = apiWith({ '/user': { id: 42 } }, scopes)
      await person(api)
      expect(asked).toHaveLength(scopes?.join() === 'read:user' ? 1 : 2)
    }
    for (const emails of [{}, [email], [[]]])
      await expect(personOf('github', { emails })).rejects.toThrow('not a')
    // Where there is none, nothing verifies it.
    const none = { email: undefined, isEmailVerified: false }
    expect(await personOf('microsoft', { xms_edov: true })).toMatchObject(none)
  })

  test('may have 320 characters, and no white space', async () => {
    const longest = `${'x'.repeat(308)}@example.com`
    expect((await personOf('google', { email: longest })).email).toBe(longest)
    for (const wrong of [`x${longest}`, 'a\r\nb@example.com', 'a b@example.com'])
      await expect(personOf('google', { email: wrong })).rejects.toThrow('not an email address')
    for (const wrong of [[email], { address: email }])
      await expect(personOf('google', { email: wrong })).rejects.toThrow('email is not a string')
  })
})

describe('A name', () => {
  test.each<[Name, Record<string, unknown>, string | undefined]>([
    ['google', { name: 'Ada Lovelace', given_name: 'Ada' }, 'Ada Lovelace'],
    ['google', { name: '', given_name: 'Ada' }, 'Ada'],
    ['google', {}, undefined],
    ['google', { name: 'Ada\u0000\n\u202eLove\ud800' }, 'Ada Love\ufffd'],
    ['google', { name: '🐎'.repeat(201) }, '🐎'.repeat(200)],
    ['gitlab', { nickname: 'ada' }, 'ada'],
    ['linkedin', { given_name: 'Ada' }, 'Ada'],
    ['slack', { given_name: 'Ada' }, 'Ada'],
    ['github', { name: null, login: 'ada' }, 'ada'],
    ['discord', { global_name: null, username: 'ada' }, 'ada'],
  ])('of %s %j is %s', async (provider, claims, name) => {
    expect((await personOf(provider, claims)).name).toBe(name as string)
  })

  test('is what Apple posts, if that is as expected', async () => {
    const named = async (user: string) =>
      (await personOf('apple', {}, `${new URLSearchParams({ user })}`)).name
    expect(await named('{"name":{"firstName":"Ada","lastName":"Lovelace"}}')).toBe('Ada Lovelace')
    expect(await named('{"name":{"lastName":"Lovelace"}}')).toBe('Lovelace')
    const odd = ['{"name":"Ada"}', '{"name":{"firstName":["Ada"]}}', '{"name":{"firstName":" "}}']
    for (const user of ['nonsense', '[]', 'null', '{}', ...odd])
      expect(await named(user), user).toBeUndefined()
    expect(await named('{"name":{"firstName":"Ada"}}'.padEnd(4096))).toBe('Ada')
    expect(await named('{"name":{"firstName":"Ada"}}'.padEnd(4097))).toBeUndefined()
    // Nothing else of what is posted counts.
    const user = '{"name":{"firstName":"Eve"},"email":"eve@evil.test","sub":"x"}'
    const person = await personOf('apple', { email }, `${new URLSearchParams({ user })}`)
    expect(person).toMatchObject({ subject: '42', email, isEmailVerified: false, name: 'Eve' })
  })
})

test.each<[Name, unknown, string | undefined]>([
  ['google', 'pt_BR', 'pt-BR'],
  ['google', `en-${'abcdefgh-'.repeat(3)}abcde`, `en-${'abcdefgh-'.repeat(3)}abcde`],
  ['google', `en-${'abcdefgh-'.repeat(3)}abcdef`, undefined],
  ['linkedin', { country: 'DE', language: 'de' }, 'de'],
  ['linkedin', 'de', 'de'],
  ['slack', 'en-US', 'en-US'],
  ['slack', '<script>', undefined],
  ['gitlab', 'de', undefined],
  ['github', 'de', undefined],
  ['github-tenant', 'de', 'en'],
])('The locale of %s %j is %s', async (name, locale, tag) => {
  expect((await personOf(name, { locale })).locale).toBe(tag as string)
})

test('A name and a locale must be strings', async () => {
  for (const claims of [{ name: ['Ada'] }, { locale: 7 }])
    await expect(personOf('google', claims)).rejects.toThrow('is not a string')
})
