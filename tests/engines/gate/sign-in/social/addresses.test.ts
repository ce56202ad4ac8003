import { describe, expect, test } from 'bun:test'
import { ALL_PROVIDERS, PROVIDERS } from '../../../../../src/config/index.ts'
import {
  addressesOf,
  checkTransport,
  subjectAt,
} from '../../../../../src/engines/gate/sign-in/social/addresses.ts'
import { providers } from '../../../../../src/engines/gate/sign-in/social/providers/index.ts'
import {
  CONSUMERS,
  NOTHING_SET,
  ORGANISATION,
  type ProviderSettings,
  uuidOf,
} from '../../../../support/social/index.ts'
import { callbackOf, socialWith } from './fixture.ts'

type Name = (typeof ALL_PROVIDERS)[number]

const at = (name: Name, settings: Partial<ProviderSettings> = {}) =>
  addressesOf(providers[name], { ...NOTHING_SET, ...settings })

describe('Addresses', () => {
  test.each([...ALL_PROVIDERS])('of %s are built in, with https', (name) => {
    const { authorize, token, userinfo, jwks } = at(name)
    for (const address of [authorize, token, userinfo, jwks])
      if (address) expect(address).toStartWith('https://')
    expect(() => checkTransport(at(name))).not.toThrow()
    expect(providers[name].kind === 'openid' ? jwks : userinfo).toBeString()
  })

  const GIT = 'https://git.example'
  const CLOUD = 'https://login.microsoftonline.us'

  test.each<[Name, string, Record<string, string | undefined>]>([
    [
      'github',
      GIT,
      {
        authorize: `${GIT}/login/oauth/authorize`,
        token: `${GIT}/login/oauth/access_token`,
        userinfo: `${GIT}/api/v3/user`,
        jwks: undefined,
        issuer: `${GIT}/login/oauth`,
      },
    ],
    [
      'gitlab',
      `${GIT}/gitlab`,
      {
        authorize: `${GIT}/gitlab/oauth/authorize`,
        token: `${GIT}/gitlab/oauth/token`,
        userinfo: `${GIT}/gitlab/oauth/userinfo`,
        jwks: `${GIT}/gitlab/oauth/discovery/keys`,
        issuer: `${GIT}/gitlab`,
      },
    ],
    ['microsoft', CLOUD, { ...at('microsoft', { baseUrl: `${CLOUD}/common` }) }],
    [
      'microsoft',
      `${CLOUD}/organizations`,
      {
        authorize: `${CLOUD}/organizations/oauth2/v2.0/authorize`,
        token: `${CLOUD}/organizations/oauth2/v2.0/token`,
        userinfo: undefined,
        jwks: `${CLOUD}/organizations/discovery/v2.0/keys`,
        issuer: CLOUD,
      },
    ],
  ])('of %s at %s are those of that installation', (name, baseUrl, addresses) => {
    const found: Record<string, string | undefined> = { ...at(name, { baseUrl }) }
    expect(found).toEqual(addresses)
  })

  test('that are configured replace all others', () => {
    const authorize = 'https://a.example/1'
    const token = 'https://b.example/2'
    const userinfo = 'https://c.example/3'
    const jwks = 'https://d.example/4'
    const issuer = 'https://e.example/'
    const urls = { authorizeUrl: authorize, tokenUrl: token, userinfoUrl: userinfo, jwksUrl: jwks }
    for (const name of PROVIDERS)
      expect(at(name, { baseUrl: 'https://base.example', ...urls, issuer })).toEqual({
        authorize,
        token,
        userinfo,
        jwks,
        issuer,
      })
  })
})

describe('Plain http', () => {
  const check = (host: string) => checkTransport(at('gitlab', { baseUrl: `http://${host}` }))

  test('is allowed on this machine only', () => {
    for (const host of [
      '127.0.0.1:81',
      '127.9.9.9',
      '[::1]:81',
      'localhost:81',
      'LOCALHOST',
      '2130706433',
    ])
      expect(() => check(host)).not.toThrow()
    const names = ['git.example', '127.0.0.1.example', 'localhost.example', 'notlocalhost']
    for (const host of [...names, '192.168.0.7', '128.0.0.1', '[::2]', '[::ffff:127.0.0.1]'])
      expect(() => check(host), host).toThrow('https')
  })

  test.each(['authorizeUrl', 'tokenUrl', 'userinfoUrl', 'jwksUrl'])(
    'is refused in %s',
    async (name) => {
      const settings = { clientId: 'a', clientSecret: 'b', [name]: 'http://git.example/x' }
      const social = socialWith({ gitlab: settings })
      const begun = social.begin('gitlab', { redirectUri: callbackOf('gitlab'), state: 'x' })
      await expect(begun).rejects.toThrow(
        'gitlab: git.example must use https; http is allowed on this machine only',
      )
    },
  )
})

describe('A subject', () => {
  const subjectOf = (name: Name, settings: Partial<ProviderSettings> = {}) =>
    subjectAt(providers[name], at(name, settings), '42')

  test.each([...PROVIDERS])('of %s begins with its installation', (name) => {
    expect(subjectOf(name)).toBe('42')
    const [one, other] = ['https://one.example', 'https://other.example'].map((baseUrl) =>
      subjectOf(name, { baseUrl }),
    )
    expect(one).toEndWith('#42')
    expect(one).not.toBe(other)
  })

  test('stays the same at another directory or URL of the installation', () => {
    const baseUrl = 'https://login.microsoftonline.com/organizations'
    expect(subjectOf('microsoft', { baseUrl })).toBe('42')
    expect(subjectOf('google', { tokenUrl: 'https://mirror.example/token' })).toBe('42')
  })
})

describe('An issuer', () => {
  const isAccepted = (name: Name, issuer: string, settings: Partial<ProviderSettings> = {}) => {
    const provider = providers[name]
    return provider.kind === 'openid' && provider.acceptsIssuer(issuer, at(name, settings))
  }

  test.each<[Name, string, boolean]>([
    ['google', 'https://accounts.google.com', true],
    ['google', 'accounts.google.com', true],
    ['google', 'http://accounts.google.com', false],
    ['gitlab', 'https://gitlab.com', true],
    ['gitlab', 'gitlab.com', false],
    ['linkedin', 'https://www.linkedin.com/oauth', true],
    ['linkedin', 'https://www.linkedin.com', true],
    ['linkedin', 'https://linkedin.com', false],
    ['apple', 'https://appleid.apple.com', true],
    ['apple', 'appleid.apple.com', false],
    ['slack', 'https://slack.com', true],
    ['slack', 'slack.com', false],
    ['twitch', 'https://id.twitch.tv/oauth2', true],
    ['twitch', 'https://id.twitch.tv', false],
    ['google-tenant', 'https://accounts.google.com', true],
  ])('of %s may be %s: %p', (name, issuer, expected) => {
    expect(isAccepted(name, issuer)).toBe(expected)
  })

  const OTHER = uuidOf('another organisation')

  test.each([
    ['common', ORGANISATION, true],
    ['common', CONSUMERS, true],
    ['organizations', ORGANISATION, true],
    ['organizations', OTHER, true],
    ['organizations', CONSUMERS, false],
    ['consumers', CONSUMERS, true],
    ['consumers', ORGANISATION, false],
    [ORGANISATION, ORGANISATION, true],
    [ORGANISATION, OTHER, false],
    [ORGANISATION, CONSUMERS, false],
  ])('of Microsoft at /%s may be that of directory %s: %p', (directory, tid, expected) => {
    const cloud = 'https://login.microsoftonline.com'
    const settings = { baseUrl: `${cloud}/${directory}` }
    expect(isAccepted('microsoft', `${cloud}/${tid}/v2.0`, settings)).toBe(expected)
    expect(isAccepted('microsoft', `https://evil.example/${tid}/v2.0`, settings)).toBe(false)
  })
})
