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

/** A value for every gap of a text. */
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

describe('The texts of both languages', () => {
  test('have the same messages and fields', () => {
    expect(Object.keys(german.texts)).toEqual(Object.keys(english.texts))
    expect(Object.keys(german.fields)).toEqual(Object.keys(english.fields))
    expect(IDS.length).toBeGreaterThan(90)
  })

  test.each(IDS)('%d differ, have the same gaps, and fill them from the context', (id) => {
    const gaps = gapsOf(english.texts[id])
    expect(gapsOf(german.texts[id]).toSorted()).toEqual(gaps.toSorted())
    const context = Object.fromEntries(gaps.map((name) => [name, VALUES[name]]))
    const texts = LANGUAGES.map((language) => createSay(language)(id, context).text)
    for (const text of texts) expect(text).not.toMatch(/^$|[{}…]|undefined|\[object/)
    if (/^\{\w+\}$/.test(english.texts[id])) return
    expect(german.texts[id]).not.toBe(english.texts[id])
    expect(english.texts[id]).toMatch(/^[A-Z{].*\w/)
    expect(german.texts[id]).toMatch(/^[A-ZÄÖÜ{].*\w/)
  })
})

describe('A message', () => {
  test('has an id, a type, a text, and the context if there is one', () => {
    expect(inEnglish(1010002, { provider: 'GitHub', provider_id: 'github' })).toEqual({
      id: 1010002,
      type: 'info',
      text: 'Sign in with GitHub',
      context: { provider: 'GitHub', provider_id: 'github' },
    })
    expect(inGerman(1010002, { provider: 'GitHub' }).text).toBe('Mit GitHub anmelden')
    expect(inEnglish(4000006)).toStrictEqual({
      id: 4000006,
      type: 'error',
      text: 'Incorrect email address or password. Check both and try again.',
    })
  })

  test('has a type by its id: errors from 4000000, five of success, and info', () => {
    const typesOf = (type: string) => IDS.filter((id) => inEnglish(id).type === type)
    expect(typesOf('success').toSorted()).toEqual([1050001, 1060001, 1080002, 1900012, 1900013])
    expect(typesOf('info').every((id) => id < 2_000_000)).toBe(true)
    expect(typesOf('error')).toEqual(IDS.filter((id) => id >= 4_000_000))
  })

  test('does not say whether there is an account', () => {
    expect(inGerman(4000006).text).toContain('E-Mail-Adresse oder Passwort')
    for (const id of [1010014, 1060003, 1080003] as const) {
      expect(inEnglish(id).text).toStartWith('If ')
      expect(inGerman(id).text).toStartWith('Wenn ')
    }
  })

  test('with recovery codes lists them', () => {
    const secrets = VALUES.secrets
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
  ])('calls the field %s %s', (property, name, nameInGerman) => {
    const { text, context } = inEnglish(4000002, { property })
    expect(text).toBe(`${name} is required.`)
    expect(context).toEqual({ property })
    expect(inGerman(4000002, { property }).text).toBe(`${nameInGerman} fehlt.`)
  })

  test.each([
    [0, '1 second', '1 Sekunde'],
    [1, '1 second', '1 Sekunde'],
    [29.2, '30 seconds', '30 Sekunden'],
    [59.5, '1 minute', '1 Minute'],
    [60, '1 minute', '1 Minute'],
    [61, '2 minutes', '2 Minuten'],
    [900, '15 minutes', '15 Minuten'],
  ])('rounds %d s up to %s', (seconds, words, wordsInGerman) => {
    expect(inEnglish(4900002, { seconds }).text).toContain(`again in ${words}.`)
    expect(inGerman(4900002, { seconds }).text).toContain(`in ${wordsInGerman} erneut`)
  })

  test.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY, {}, () => 1])(
    'shows … for %p',
    (value) => {
      expect(inEnglish(4900002, { seconds: value }).text).toContain('again in ….')
      expect(inEnglish(1010002, { provider: value }).text).toBe('Sign in with …')
    },
  )
})

describe('A hostile context', () => {
  const CUT = `${'a'.repeat(300)}…`

  test.each([
    ['is not markup', 1010002, { provider: `<b>$&"'</b>` }, `Sign in with <b>$&"'</b>`],
    ['may be long', 1070002, { title: 'a'.repeat(300) }, 'a'.repeat(300)],
    ['is cut', 1070002, { title: 'a'.repeat(100_000) }, CUT],
    [
      'is cut between characters',
      1070002,
      { title: `a${'🐎'.repeat(200)}` },
      `a${'🐎'.repeat(149)}…`,
    ],
  ] as const)('%s', (_, id, context, text) => {
    expect(inEnglish(id, Object.freeze(context)).text).toBe(text)
  })

  test('is not filled in again, and is cut beside the text, too', () => {
    const again = { duplicate_identifier: '{provider}', provider: 'GitHub' }
    expect(inEnglish(1010016, again).text).toContain('account with {provider} already')
    const { context } = inEnglish(1070002, { title: 'a'.repeat(1000), name: 'a' })
    expect(context).toEqual({ title: CUT, name: 'a' })
  })
})

test('Each provider has the name that people know', () => {
  expect(PROVIDERS.map(providerName).join()).toBe(
    'GitHub,Google,GitLab,Microsoft,Discord,Facebook,LinkedIn,Apple,Slack,Twitch,Spotify',
  )
  expect(aboutProvider('linkedin')).toEqual({ provider: 'LinkedIn', provider_id: 'linkedin' })
})
