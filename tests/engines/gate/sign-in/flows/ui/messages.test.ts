import { describe, expect, test } from 'bun:test'
import { PROVIDERS } from '../../../../../../src/config/index.ts'
import {
  aboutProvider,
  createSay,
  type MessageId,
  providerName,
} from '../../../../../../src/engines/gate/sign-in/flows/ui/index.ts'
import { german } from '../../../../../../src/engines/gate/sign-in/flows/ui/words-de.ts'
import { english } from '../../../../../../src/engines/gate/sign-in/flows/ui/words-en.ts'
import { LANGUAGES } from '../../../../../../src/engines/gate/sign-in/model.ts'

const inEnglish = createSay('en')
const inGerman = createSay('de')

const isId = (id: number): id is MessageId => id in english.texts
const IDS = Object.keys(english.texts).map(Number).filter(isId)

const gapsOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

/** A value for every name that a text may leave open. */
const VALUES: Record<string, unknown> = {
  address: 'anna@example.com',
  duplicate_identifier: 'anna@example.com',
  max_length: 1024,
  min_length: 8,
  property: 'traits.nickname',
  provider: 'GitHub',
  reason: 'the moon is full',
  secret: 'JBSWY3DPEHPK3PXP',
  secrets: [inEnglish(1050009, { secret: 'abcd-1234' }), inEnglish(1050009, { secret: 'ef-56' })],
  seconds: 30,
  title: 'Nickname',
}

describe('both languages', () => {
  test('say everything', () => {
    expect(Object.keys(german.texts)).toEqual(Object.keys(english.texts))
    expect(Object.keys(german.fields)).toEqual(Object.keys(english.fields))
    expect(IDS.length).toBeGreaterThan(90)
  })

  test.each(IDS)('%d leaves the same open', (id) => {
    expect(gapsOf(german.texts[id]).toSorted()).toEqual(gapsOf(english.texts[id]).toSorted())
  })

  test.each(IDS.filter((id) => !/^\{\w+\}$/.test(english.texts[id])))(
    '%d has words of its own in each',
    (id) => {
      expect(english.texts[id]).toMatch(/^[A-Z{].*\w/)
      expect(german.texts[id]).toMatch(/^[A-ZÄÖÜ{].*\w/)
      expect(german.texts[id]).not.toBe(english.texts[id])
    },
  )

  test.each(IDS)('%d leaves nothing open with the context that it asks for', (id) => {
    const gaps = gapsOf(english.texts[id])
    const context = Object.fromEntries(gaps.map((name) => [name, VALUES[name]]))

    for (const language of LANGUAGES) {
      const { text } = createSay(language)(id, context)
      expect(text).not.toBe('')
      expect(text).not.toMatch(/[{}…]|undefined|\[object/)
    }
  })
})

describe('a message', () => {
  test('has its id, its kind, its text and the context', () => {
    expect(inEnglish(1010002, { provider: 'GitHub', provider_id: 'github' })).toEqual({
      id: 1010002,
      type: 'info',
      text: 'Sign in with GitHub',
      context: { provider: 'GitHub', provider_id: 'github' },
    })
    expect(inGerman(1010002, { provider: 'GitHub' }).text).toBe('Mit GitHub anmelden')
  })

  test('has no context where none is given', () => {
    expect(inEnglish(4000006)).toStrictEqual({
      id: 4000006,
      type: 'error',
      text: 'Incorrect email address or password. Check both and try again.',
    })
  })

  test('tells of success in five messages, of what goes on below 4000000, of errors from there on', () => {
    const typesOf = (type: string) => IDS.filter((id) => inEnglish(id).type === type)

    expect(typesOf('success').toSorted()).toEqual([1050001, 1060001, 1080002, 1900012, 1900013])
    expect(typesOf('info').every((id) => id < 2_000_000)).toBe(true)
    expect(typesOf('error')).toEqual(IDS.filter((id) => id >= 4_000_000))
  })

  test('about a wrong password or address names neither of them alone', () => {
    expect(inEnglish(4000006).text).toContain('email address or password')
    expect(inGerman(4000006).text).toContain('E-Mail-Adresse oder Passwort')
  })

  test.each([1010014, 1060003, 1080003] as const)(
    '%d says nothing about whether there is such an account',
    (id) => {
      expect(inEnglish(id).text).toStartWith('If ')
      expect(inGerman(id).text).toStartWith('Wenn ')
    },
  )

  test('with codes has each of them in its text and in its context', () => {
    const secrets = ['abcd-1234', 'ef-56'].map((secret) => inEnglish(1050009, { secret }))
    expect(inEnglish(1050015, { secrets })).toMatchObject({
      text: 'abcd-1234, ef-56',
      context: { secrets },
    })
  })

  test.each([
    ['password', 'Password', 'Passwort'],
    ['traits.email', 'Email address', 'E-Mail-Adresse'],
    ['traits.nickname', 'traits.nickname', 'traits.nickname'],
    ['constructor', 'constructor', 'constructor'],
  ])('calls the missing field %s what people call it', (property, name, nameInGerman) => {
    expect(inEnglish(4000002, { property }).text).toBe(`${name} is required.`)
    expect(inGerman(4000002, { property }).text).toBe(`${nameInGerman} fehlt.`)
    expect(inEnglish(4000002, { property }).context).toEqual({ property })
  })

  test.each([
    [0, '1 second', '1 Sekunde'],
    [1, '1 second', '1 Sekunde'],
    [29.2, '30 seconds', '30 Sekunden'],
    [59.5, '1 minute', '1 Minute'],
    [60, '1 minute', '1 Minute'],
    [61, '2 minutes', '2 Minuten'],
    [900, '15 minutes', '15 Minuten'],
  ])('puts a wait of %d s into words, rounded up', (seconds, words, wordsInGerman) => {
    expect(inEnglish(4900002, { seconds }).text).toContain(`again in ${words}.`)
    expect(inGerman(4900002, { seconds }).text).toContain(`in ${wordsInGerman} erneut`)
  })

  test.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY, {}, () => 1])(
    'leaves a gap for %p instead of showing it',
    (value) => {
      expect(inEnglish(4900002, { seconds: value }).text).toContain('again in ….')
      expect(inEnglish(1010002, { provider: value }).text).toBe('Sign in with …')
    },
  )
})

describe('what strangers wrote into a context', () => {
  test('stands in the text as it is', () => {
    const provider = `<b>$&"'</b>`
    expect(inEnglish(1010002, { provider }).text).toBe(`Sign in with ${provider}`)
  })

  test('is not filled in again', () => {
    const context = { duplicate_identifier: '{provider}', provider: 'GitHub' }
    expect(inEnglish(1010016, context).text).toContain('account with {provider} already')
  })

  test('is cut off after 300 characters, in the text and beside it', () => {
    const cut = `${'a'.repeat(300)}…`
    const { text, context } = inEnglish(1070002, { title: 'a'.repeat(100_000), name: 'a' })
    expect(text).toBe(cut)
    expect(context).toEqual({ title: cut, name: 'a' })
    expect(inEnglish(1070002, { title: 'a'.repeat(300) }).text).toBe('a'.repeat(300))
  })

  test('is not cut through the middle of a character', () => {
    const { text } = inEnglish(1070002, { title: `a${'🐎'.repeat(200)}` })
    expect(text).toBe(`a${'🐎'.repeat(149)}…`)
  })

  test('stays what it was', () => {
    const context = Object.freeze({ title: 'a'.repeat(1000) })
    inEnglish(1070002, context)
    expect(context.title).toHaveLength(1000)
  })
})

test('each provider has a name that people know it by', () => {
  expect(PROVIDERS.map(providerName)).toEqual([
    'GitHub',
    'Google',
    'GitLab',
    'Microsoft',
    'Discord',
    'Facebook',
    'LinkedIn',
    'Apple',
    'Slack',
    'Twitch',
    'Spotify',
  ])
  expect(aboutProvider('linkedin')).toEqual({ provider: 'LinkedIn', provider_id: 'linkedin' })
})
