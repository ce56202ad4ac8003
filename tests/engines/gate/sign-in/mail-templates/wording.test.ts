import { expect, test } from 'bun:test'
import { createMailTemplates } from '../../../../../src/engines/gate/sign-in/mail-templates/index.ts'
import { inWords } from '../../../../../src/engines/gate/sign-in/mail-templates/lifetime.ts'
import { partlyHidden } from '../../../../../src/engines/gate/sign-in/mail-templates/shown-address.ts'
import { LANGUAGES, type Language } from '../../../../../src/engines/gate/sign-in/model.ts'

const CODE = '481516'
const LINK = `https://gate.example.org/auth/self-service/recovery?flow=0197d6c2&code=${CODE}`
const LINK_IN_HTML = LINK.replaceAll('&', '&amp;')
const LIFETIMES: Record<Language, string> = { en: '15 minutes', de: '15 Minuten' }

const ABOUT = {
  tenantName: 'Acme & Söhne',
  code: CODE,
  link: LINK,
  lifetimeMs: 15 * 60_000,
  linkLifetimeMs: 15 * 60_000,
  newAddress: 'grace@example.net',
  isOn: true,
}

const WITH_LINK = ['verification', 'recovery', 'emailChange'] as const
const WITH_CODE = ['loginCode', 'registrationCode'] as const
const NOTICES = ['emailChangeNotice', 'passwordChanged', 'secondFactorChanged'] as const

/** Each email in each language. */
const CASES = LANGUAGES.flatMap((language) =>
  [...WITH_LINK, ...WITH_CODE, ...NOTICES].map((name) => {
    const written = (about: Partial<typeof ABOUT> = {}) =>
      createMailTemplates(language)[name]({ ...ABOUT, ...about })
    return { language, name, written }
  }),
)

const count = (text: string, part: string): number => text.split(part).length - 1
const ENGLISH = /\b(the|your|you|this|it|if|not|open|confirm|enter|account|was|email below)\b/i
const GERMAN = /[äöüß]|\b(der|das|und|oder|dein|deine|du|nicht|diese|diesen|wenn|konto|mit)\b/i
const WARNINGS = {
  en: /If this wasn't you, .*immediately/,
  de: /Wenn du das nicht warst, .*sofort/,
}

test.each(CASES)('The email $name in $language', ({ language, name, written }) => {
  const { subject, text, html } = written()
  // It names the tenant, leaves no gap, and has a short subject without secrets.
  expect(subject).toContain('Acme & Söhne')
  expect(text).toContain('--\nAcme & Söhne\n')
  expect(html).toContain('>Acme &amp; Söhne</p>')
  expect(html).toContain(`<html lang="${language}">`)
  expect(subject + text + html).not.toMatch(/undefined|null|NaN|\[object|\$\{/)
  expect(`${subject}\n${text}`).not.toMatch(/\S {2}\S| [.,:;]|\.\./)
  expect(subject).not.toMatch(/\d|https?:|grace|@/)
  expect(subject.length).toBeLessThan(70)

  // It is in one language.
  const plain = written({ tenantName: 'Acme' })
  const shown = plain.html.replace(/<style>.*<\/style>/s, '').replaceAll(/<[^>]*>/g, ' ')
  const said = [plain.subject, plain.text, shown].join('\n').replaceAll(/https?:\S+/g, '')
  expect(said).toMatch(language === 'de' ? GERMAN : ENGLISH)
  expect(said).not.toMatch(language === 'de' ? ENGLISH : GERMAN)

  // It has the code once besides the link, or is a notice with a warning and without a code.
  const isNotice = NOTICES.some((notice) => notice === name)
  expect(count(text.replaceAll(LINK, ''), CODE)).toBe(isNotice ? 0 : 1)
  expect(count(html.replaceAll(LINK_IN_HTML, ''), CODE)).toBe(isNotice ? 0 : 1)
  if (isNotice) expect(text).toMatch(WARNINGS[language])
  else {
    expect(text).toContain(`\n\n    ${CODE}\n\n`)
    expect(count(html, `>${CODE}</td>`)).toBe(1)
    for (const part of [text, html]) expect(part).toContain(LIFETIMES[language])
  }
  const links = WITH_LINK.some((mail) => mail === name) ? 1 : 0
  expect(count(text, `\n${LINK}\n`)).toBe(links)
  expect(count(html, `href="${LINK_IN_HTML}"`)).toBe(links)
  expect(count(html, `>${LINK_IN_HTML}</span>`)).toBe(links)
  if (links === 0) expect(text + html).not.toMatch(/https?:|<a /)

  // It shows a hostile name as text on one line.
  const attack = `"><img src=x onerror='alert(1)'><a href=//evil.example>&amp;`
  const tagsIn = (markup: string) =>
    [...markup.matchAll(/<\s*\/?\s*([a-z!][\w-]*)/gi)].map(([, tag]) => tag)
  const attacked = written({ tenantName: attack, newAddress: `x${attack}@${attack}` })
  expect(tagsIn(attacked.html)).toEqual(tagsIn(html))
  expect(attacked.html).toContain('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;')
  const turned = written({
    tenantName: 'Acme\r\n\u2028\u202egro',
    newAddress: `ada@x\n\u202e.example`,
  })
  expect(turned.text.split('\n')).toHaveLength(plain.text.split('\n').length)
  expect(turned.text + turned.html).not.toMatch(/[\r\u2028\u202e]/)
})

test('The old address sees the new one in part, and a second factor is said to be on or off', () => {
  for (const { written } of CASES.filter(({ name }) => name === 'secondFactorChanged'))
    for (const part of ['subject', 'text'] as const)
      expect(written({ isOn: true })[part]).not.toBe(written({ isOn: false })[part])
  for (const { written } of CASES.filter(({ name }) => name === 'emailChangeNotice')) {
    const { subject, text, html } = written()
    for (const part of [text, html]) expect(part).toContain('g•••@example.net')
    expect(subject + text + html).not.toContain('grace')
  }
})

test.each([
  ['gr@example.com', 'g•••@example.com'],
  ['g@example.com', '•••@example.com'],
  ['e\u0301@example.com', '•••@example.com'],
  ['कि-लता@example.com', 'कि•••@example.com'],
])('%s is shown with at most one character of its name', (address, shown) => {
  expect(partlyHidden(address)).toBe(shown)
})

test.each([
  [1, '1 second', '1 Sekunde'],
  [59.999, '59 seconds', '59 Sekunden'],
  [60, '1 minute', '1 Minute'],
  [3599.999, '59 minutes', '59 Minuten'],
  [3659, '1 hour', '1 Stunde'],
  [5400, '90 minutes', '90 Minuten'],
  [86_400, '24 hours', '24 Stunden'],
])('%d seconds are rounded down to %s', (seconds, english, german) => {
  expect(inWords(seconds * 1000, 'en')).toBe(english)
  expect(inWords(seconds * 1000, 'de')).toBe(german)
})
