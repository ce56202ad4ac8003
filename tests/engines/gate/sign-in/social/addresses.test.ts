import { describe, expect, test } from 'bun:test'
import { PROVIDERS } from '../../../../../src/config/index.ts'
import {
  addressesOf,
  checkTransport,
  subjectAt,
} from '../../../../../src/engines/gate/sign-in/social/addresses.ts'
import { providers } from '../../../../../src/engines/gate/sign-in/social/providers/index.ts'
import { NOTHING_SET, type ProviderSettings } from '../../../../support/social/index.ts'
import { callbackOf, socialWith } from './client.ts'

const at = (name: keyof typeof providers, settings: Partial<ProviderSettings> = {}) =>
  addressesOf(providers[name], { ...NOTHING_SET, ...settings })

describe('addresses', () => {
  test('are built in, and all by https', () => {
    for (const name of PROVIDERS) {
      const { authorize, token, userinfo, jwks } = at(name)
      for (const address of [authorize, token, userinfo, jwks]) {
        if (address) expect(address).toStartWith('https://')
      }
      expect(() => checkTransport(at(name))).not.toThrow()
    }
  })

  test('of OpenID providers name keys, those of others an interface', () => {
    for (const name of PROVIDERS) {
      const needed = providers[name].kind === 'openid' ? 'jwks' : 'userinfo'
      expect(at(name)[needed]).toBeString()
    }
  })

  test('under a base are those of an installation of one’s own', () => {
    const baseUrl = 'https://git.example'

    expect(at('github', { baseUrl })).toEqual({
      authorize: 'https://git.example/login/oauth/authorize',
      token: 'https://git.example/login/oauth/access_token',
      userinfo: 'https://git.example/api/v3/user',
      jwks: undefined,
      issuer: 'https://git.example/login/oauth',
    })
    expect(at('gitlab', { baseUrl: 'https://git.example/gitlab' })).toEqual({
      authorize: 'https://git.example/gitlab/oauth/authorize',
      token: 'https://git.example/gitlab/oauth/token',
      userinfo: 'https://git.example/gitlab/oauth/userinfo',
      jwks: 'https://git.example/gitlab/oauth/discovery/keys',
      issuer: 'https://git.example/gitlab',
    })
  })

  test('of microsoft end in a directory, which is common unless it is said', () => {
    const cloud = 'https://login.microsoftonline.us'

    expect(at('microsoft', { baseUrl: cloud })).toEqual(
      at('microsoft', { baseUrl: `${cloud}/common` }),
    )
    expect(at('microsoft', { baseUrl: `${cloud}/organizations` })).toMatchObject({
      authorize: `${cloud}/organizations/oauth2/v2.0/authorize`,
      issuer: cloud,
    })
  })

  test('that are spelt out come before all', () => {
    const settings = {
      baseUrl: 'https://base.example',
      authorizeUrl: 'https://a.example/1',
      tokenUrl: 'https://b.example/2',
      userinfoUrl: 'https://c.example/3',
      jwksUrl: 'https://d.example/4',
      issuer: 'https://e.example/',
    }

    for (const name of PROVIDERS) {
      expect(at(name, settings)).toEqual({
        authorize: settings.authorizeUrl,
        token: settings.tokenUrl,
        userinfo: settings.userinfoUrl,
        jwks: settings.jwksUrl,
        issuer: settings.issuer,
      })
    }
  })
})

describe('plain http', () => {
  test.each(['127.0.0.1:81', '127.9.9.9', '[::1]:81', 'localhost:81', 'LOCALHOST', '2130706433'])(
    'is for this machine: %s',
    (host) => {
      expect(() => checkTransport(at('gitlab', { baseUrl: `http://${host}` }))).not.toThrow()
    },
  )

  test.each([
    'git.example',
    '192.168.0.7',
    '128.0.0.1',
    '127.0.0.1.example',
    'localhost.example',
    'notlocalhost',
    '[::2]',
    '[::ffff:127.0.0.1]',
  ])('is not for others: %s', (host) => {
    expect(() => checkTransport(at('gitlab', { baseUrl: `http://${host}` }))).toThrow('https')
  })

  test.each(['authorizeUrl', 'tokenUrl', 'userinfoUrl', 'jwksUrl'] as const)(
    'in %s alone is enough to refuse',
    async (name) => {
      const settings = { clientId: 'a', clientSecret: 'b', [name]: 'http://git.example/x' }
      const social = socialWith({ gitlab: { ...NOTHING_SET, ...settings } })
      const begun = { redirectUri: callbackOf('gitlab'), state: 'x' }

      await expect(social.begin('gitlab', begun)).rejects.toThrow(
        'gitlab: git.example must use https; http is allowed on this machine only',
      )
    },
  )
})

describe('a subject', () => {
  const subjectFor = (name: keyof typeof providers, settings: Partial<ProviderSettings>) =>
    subjectAt(providers[name], at(name, settings), '42')

  test('is as the provider has it, at the place that is built in', () => {
    for (const name of PROVIDERS) expect(subjectFor(name, {})).toBe('42')
  })

  test('is of its place, at any other', () => {
    for (const name of PROVIDERS) {
      const [one, other] = ['https://one.example', 'https://other.example'].map((baseUrl) =>
        subjectFor(name, { baseUrl }),
      )
      expect(one).toEndWith('#42')
      expect(one).not.toBe(other)
    }
  })

  test('stays when the same accounts are reached by another directory or address', () => {
    const baseUrl = 'https://login.microsoftonline.com/organizations'

    expect(subjectFor('microsoft', { baseUrl })).toBe('42')
    expect(subjectFor('google', { tokenUrl: 'https://mirror.example/token' })).toBe('42')
  })
})
