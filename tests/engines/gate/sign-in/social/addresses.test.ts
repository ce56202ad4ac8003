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

test('All providers have addresses built in, with https', () => {
  for (const name of ALL_PROVIDERS) {
    const { authorize, token, userinfo, jwks } = at(name)
    for (const address of [authorize, token, userinfo, jwks])
      if (address) expect(address).toStartWith('https://')
    expect(() => checkTransport(at(name))).not.toThrow()
    expect(providers[name].kind === 'openid' ? jwks : userinfo).toBeString()
  }
})

test('A base URL moves all addresses to that installation', () => {
  const git = 'https://git.example'
  expect(at('github', { baseUrl: git })).toEqual({
    authorize: `${git}/login/oauth/authorize`,
    token: `${git}/login/oauth/access_token`,
    userinfo: `${git}/api/v3/user`,
    jwks: undefined,
    issuer: `${git}/login/oauth`,
  })
  expect(at('gitlab', { baseUrl: `${git}/gitlab` })).toEqual({
    authorize: `${git}/gitlab/oauth/authorize`,
    token: `${git}/gitlab/oauth/token`,
    userinfo: `${git}/gitlab/oauth/userinfo`,
    jwks: `${git}/gitlab/oauth/discovery/keys`,
    issuer: `${git}/gitlab`,
  })
  const cloud = 'https://login.microsoftonline.us'
  const common = at('microsoft', { baseUrl: `${cloud}/common` })
  expect(at('microsoft', { baseUrl: cloud })).toEqual(common)
  expect(at('microsoft', { baseUrl: `${cloud}/organizations` })).toEqual({
    authorize: `${cloud}/organizations/oauth2/v2.0/authorize`,
    token: `${cloud}/organizations/oauth2/v2.0/token`,
    userinfo: undefined,
    jwks: `${cloud}/organizations/discovery/v2.0/keys`,
    issuer: cloud,
  })
})

test('Configured URLs replace all others', () => {
  const [authorize, token, userinfo, jwks, issuer] = ['a', 'b', 'c', 'd', 'e'].map(
    (host) => `https://${host}.example/1`,
  )
  const urls = { authorizeUrl: authorize, tokenUrl: token, userinfoUrl: userinfo, jwksUrl: jwks }
  for (const name of PROVIDERS) {
    const found: object = at(name, { baseUrl: 'https://base.example', ...urls, issuer })
    expect(found).toEqual({ authorize, token, userinfo, jwks, issuer })
  }
})

describe('Plain http', () => {
  const LOCAL = ['127.0.0.1:81', '127.9.9.9', '[::1]:81', 'localhost:81', 'LOCALHOST', '2130706433']
  const NAMES = ['git.example', '127.0.0.1.example', 'localhost.example', 'notlocalhost']
  const OTHERS = ['192.168.0.7', '128.0.0.1', '[::2]', '[::ffff:127.0.0.1]']

  test('is allowed on this machine only', () => {
    const check = (host: string) => checkTransport(at('gitlab', { baseUrl: `http://${host}` }))
    for (const host of LOCAL) expect(() => check(host)).not.toThrow()
    for (const host of [...NAMES, ...OTHERS]) expect(() => check(host), host).toThrow('https')
  })

  test.each(['authorizeUrl', 'tokenUrl', 'userinfoUrl', 'jwksUrl'])(
    'is refused in %s',
    async (name) => {
      const settings = { clientId: 'a', clientSecret: 'b', [name]: 'http://git.example/x' }
      const social = socialWith({ gitlab: settings })
      await expect(
        social.begin('gitlab', { redirectUri: callbackOf('gitlab'), state: 'x' }),
      ).rejects.toThrow('gitlab: git.example must use https; http is allowed on this machine only')
    },
  )
})

test('A subject begins with its installation, unless that is the usual one', () => {
  const subjectOf = (name: Name, settings: Partial<ProviderSettings> = {}) =>
    subjectAt(providers[name], at(name, settings), '42')
  for (const name of PROVIDERS) {
    expect(subjectOf(name)).toBe('42')
    const one = subjectOf(name, { baseUrl: 'https://one.example' })
    expect(one).toEndWith('#42')
    expect(one).not.toBe(subjectOf(name, { baseUrl: 'https://other.example' }))
  }
  const baseUrl = 'https://login.microsoftonline.com/organizations'
  expect(subjectOf('microsoft', { baseUrl })).toBe('42')
  expect(subjectOf('google', { tokenUrl: 'https://mirror.example/token' })).toBe('42')
})

describe('An issuer', () => {
  const isAccepted = (name: Name, issuer: string, settings: Partial<ProviderSettings> = {}) => {
    const provider = providers[name]
    return provider.kind === 'openid' && provider.acceptsIssuer(issuer, at(name, settings))
  }

  test.each<[Name, string[], string[]]>([
    [
      'google',
      ['https://accounts.google.com', 'accounts.google.com'],
      ['http://accounts.google.com'],
    ],
    ['gitlab', ['https://gitlab.com'], ['gitlab.com']],
    [
      'linkedin',
      ['https://www.linkedin.com/oauth', 'https://www.linkedin.com'],
      ['https://linkedin.com'],
    ],
    ['apple', ['https://appleid.apple.com'], ['appleid.apple.com']],
    ['slack', ['https://slack.com'], ['slack.com']],
    ['twitch', ['https://id.twitch.tv/oauth2'], ['https://id.twitch.tv']],
    ['google-tenant', ['https://accounts.google.com'], []],
  ])('of %s may be %j, and not %j', (name, good, bad) => {
    for (const issuer of good) expect(isAccepted(name, issuer)).toBe(true)
    for (const issuer of bad) expect(isAccepted(name, issuer)).toBe(false)
  })

  const OTHER = uuidOf('another organisation')

  test.each([
    ['common', [ORGANISATION, CONSUMERS], []],
    ['organizations', [ORGANISATION, OTHER], [CONSUMERS]],
    ['consumers', [CONSUMERS], [ORGANISATION]],
    [ORGANISATION, [ORGANISATION], [OTHER, CONSUMERS]],
  ])('of Microsoft at /%s may be that of the directories %j', (directory, good, bad) => {
    const cloud = 'https://login.microsoftonline.com'
    const settings = { baseUrl: `${cloud}/${directory}` }
    for (const tid of [...good, ...bad]) {
      const expected = good.includes(tid)
      expect(isAccepted('microsoft', `${cloud}/${tid}/v2.0`, settings)).toBe(expected)
      expect(isAccepted('microsoft', `https://evil.example/${tid}/v2.0`, settings)).toBe(false)
    }
  })
})
