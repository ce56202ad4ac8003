import { expect, test } from 'bun:test'
import { PROVIDERS } from '../../../../../../src/config/index.ts'
import * as ui from '../../../../../../src/engines/gate/sign-in/flows/ui/index.ts'
import { german } from '../../../../../../src/engines/gate/sign-in/flows/ui/words-de.ts'
import { english } from '../../../../../../src/engines/gate/sign-in/flows/ui/words-en.ts'
import { LANGUAGES } from '../../../../../../src/engines/gate/sign-in/model.ts'

const inEnglish = ui.createSay('en')
const inGerman = ui.createSay('de')

const isId = (id: number): id is ui.MessageId => id in english.texts
const IDS = Object.keys(english.texts).map(Number).filter(isId)
const gapsOf = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')

const SECRETS = ['abcd-1234', 'ef-56'].map((secret) => inEnglish(1050009, { secret }))
const VALUES: Record<string, unknown> = {
  address: 'anna@example.com',
  duplicate_identifier: 'anna@example.com',
  max_length: 1024,
  min_length: 8,
  property: 'traits.nickname',
  provider: 'GitHub',
  reason: 'the moon is full',
  secret: 'JBSWY3DPEHPK3PXP',
  secrets: SECRETS,
  seconds: 30,
  title: 'Nickname',
}

test('The texts of both languages are of the same messages, differ, and fill the same gaps', () => {
  expect(Object.keys(german.texts)).toEqual(Object.keys(english.texts))
  expect(Object.keys(german.fields)).toEqual(Object.keys(english.fields))
  for (const id of IDS) {
    const gaps = gapsOf(english.texts[id])
    expect(gapsOf(german.texts[id]).toSorted(), `${id}`).toEqual(gaps.toSorted())
    const context = Object.fromEntries(gaps.map((name) => [name, VALUES[name]]))
    const texts = LANGUAGES.map((language) => ui.createSay(language)(id, context).text)
    for (const text of texts) expect(text).not.toMatch(/^$|[{}…]|undefined|\[object/)
    if (/^\{\w+\}$/.test(english.texts[id])) continue
    expect(german.texts[id]).not.toBe(english.texts[id])
    expect(english.texts[id]).toMatch(/^[A-Z{].*\w/)
    expect(german.texts[id]).toMatch(/^[A-ZÄÖÜ{].*\w/)
  }
})

test('A message has an id, a type by its id, a text, and the context if there is one', () => {
  const context = { provider: 'GitHub', provider_id: 'github' }
  const text = 'Continue with GitHub'
  expect(inEnglish(1010002, context)).toEqual({ id: 1010002, type: 'info', text, context })
  expect(inGerman(1010002, { provider: 'GitHub' }).text).toBe('Weiter mit GitHub')
  expect(Object.keys(inEnglish(4000006)).toSorted()).toEqual(['id', 'text', 'type'])
  expect(inEnglish(1050015, { secrets: SECRETS }).text).toBe('abcd-1234, ef-56')

  const typesOf = (type: string) => IDS.filter((id) => inEnglish(id).type === type)
  expect(typesOf('success').toSorted()).toEqual([1050001, 1060001, 1080002, 1900012, 1900013])
  expect(typesOf('info').every((id) => id < 2_000_000)).toBe(true)
  expect(typesOf('error')).toEqual(IDS.filter((id) => id >= 4_000_000))
})

test.each([
  ['traits.email', 'Email address', 'E-Mail-Adresse'],
  ['traits.nickname', 'traits.nickname', 'traits.nickname'],
  ['constructor', 'constructor', 'constructor'],
])('A message calls the field %s %s', (property, name, nameInGerman) => {
  const { text, context } = inEnglish(4000002, { property })
  expect([text, context]).toEqual([`${name} is required.`, { property }])
  expect(inGerman(4000002, { property }).text).toBe(`${nameInGerman} fehlt.`)
})

test.each([
  [0, '1 second', '1 Sekunde'],
  [29.2, '30 seconds', '30 Sekunden'],
  [59.5, '1 minute', '1 Minute'],
  [61, '2 minutes', '2 Minuten'],
])('A message rounds %d s up to %s', (seconds, words, wordsInGerman) => {
  expect(inEnglish(4900002, { seconds }).text).toContain(`again in ${words}.`)
  expect(inGerman(4900002, { seconds }).text).toContain(`in ${wordsInGerman} erneut`)
})

test('A message shows … for what is neither a text nor a number', () => {
  for (const value of [undefined, null, Number.NaN, Infinity, {}, () => 1]) {
    expect(inEnglish(4900002, { seconds: value }).text).toContain('again in ….')
    expect(inEnglish(1010002, { provider: value }).text).toBe('Continue with …')
  }
})

test('A hostile context is no markup, is cut between characters, and is not filled in again', () => {
  const cut = `${'a'.repeat(300)}…`
  const provider = `<b>$&"'</b>`
  expect(inEnglish(1010002, { provider }).text).toBe(`Continue with ${provider}`)
  for (const [title, text] of [
    ['a'.repeat(300), 'a'.repeat(300)],
    ['a'.repeat(100_000), cut],
    [`a${'🐎'.repeat(200)}`, `a${'🐎'.repeat(149)}…`],
  ] as const)
    expect(inEnglish(1070002, Object.freeze({ title })).text).toBe(text)
  const again = { duplicate_identifier: '{provider}', provider: 'GitHub' }
  expect(inEnglish(1010016, again).text).toContain('account with {provider} already')
  const { context } = inEnglish(1070002, { title: 'a'.repeat(1000), name: 'a' })
  expect(context).toEqual({ title: cut, name: 'a' })
})

test('Each provider has the name that people know', () => {
  expect(PROVIDERS.map(ui.providerName).join()).toBe(
    'GitHub,Google,GitLab,Microsoft,Discord,Facebook,LinkedIn,Apple,Slack,Twitch,Spotify',
  )
})
