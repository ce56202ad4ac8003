import { describe, expect, test } from 'bun:test'
import {
  createMailTemplates,
  type MailTemplates,
} from '../../../../../src/engines/gate/sign-in/mail-templates/index.ts'
import { LANGUAGES, type Language } from '../../../../../src/engines/gate/sign-in/model.ts'
import { openMail } from '../../../../platform/mail/support.ts'
import { temporaryFolder } from '../../../../support/folder.ts'

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
}

type Write = (of: MailTemplates, about: typeof ABOUT) => ReturnType<MailTemplates['verification']>
type Writes = Record<string, Write>

const WITH_LINK: Writes = {
  verification: (of, about) => of.verification(about),
  recovery: (of, about) => of.recovery(about),
  emailChange: (of, about) => of.emailChange(about),
}
const WITH_CODE: Writes = {
  loginCode: (of, about) => of.loginCode(about),
  registrationCode: (of, about) => of.registrationCode(about),
}
const CHANGE_NOTICE: Writes = { emailChangeNotice: (of, about) => of.emailChangeNotice(about) }
const NOTICES: Writes = {
  ...CHANGE_NOTICE,
  passwordChanged: (of, about) => of.passwordChanged(about),
  on: (of, about) => of.secondFactorChanged({ ...about, isOn: true }),
  off: (of, about) => of.secondFactorChanged({ ...about, isOn: false }),
}
const ALL = { ...WITH_LINK, ...WITH_CODE, ...NOTICES }

/** Each email in each language. */
const casesOf = (writes: Writes) =>
  LANGUAGES.flatMap((language) =>
    Object.entries(writes).map(([name, write]) => ({
      language,
      name,
      written: (about: Partial<typeof ABOUT> = {}) =>
        write(createMailTemplates(language), { ...ABOUT, ...about }),
    })),
  )

const count = (text: string, part: string): number => text.split(part).length - 1

describe.each(casesOf(ALL))('the email $name in $language', ({ language, written }) => {
  const { subject, text, html } = written()

  test('names the tenant and its language, and leaves no gap', () => {
    expect(subject).toContain('Acme & Söhne')
    expect(text).toContain('--\nAcme & Söhne\n')
    expect(html).toContain('>Acme &amp; Söhne</p>')
    expect(html).toContain(`<html lang="${language}">`)
    expect(subject + text + html).not.toMatch(/undefined|null|NaN|\[object|\$\{/)
    expect(`${subject}\n${text}`).not.toMatch(/\S {2}\S| [.,:;]|\.\./)
  })

  test('has a short subject without secrets', () => {
    expect(subject).not.toMatch(/\d|https?:|grace|@/)
    expect(subject.length).toBeLessThan(70)
  })

  test('is in one language', () => {
    const ENGLISH = /\b(the|your|you|this|it|if|not|open|confirm|enter|account|was|email below)\b/i
    const GERMAN = /[äöüß]|\b(der|das|und|oder|dein|deine|du|nicht|diese|diesen|wenn|konto|mit)\b/i
    const plain = written({ tenantName: 'Acme' })
    const shown = plain.html.replace(/<style>.*<\/style>/s, '').replaceAll(/<[^>]*>/g, ' ')
    const said = [plain.subject, plain.text, shown].join('\n').replaceAll(/https?:\S+/g, '')
    expect(said).toMatch(language === 'de' ? GERMAN : ENGLISH)
    expect(said).not.toMatch(language === 'de' ? ENGLISH : GERMAN)
  })

  test('shows a hostile name as text on one line', () => {
    const attack = `"><img src=x onerror='alert(1)'><a href=//evil.example>&amp;`
    const tagsIn = (markup: string) =>
      [...markup.matchAll(/<\s*\/?\s*([a-z!][\w-]*)/gi)].map(([, tag]) => tag)
    const attacked = written({ tenantName: attack, newAddress: `x${attack}@${attack}` })
    expect(tagsIn(attacked.html)).toEqual(tagsIn(html))
    expect(attacked.html).toContain('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;')

    const turned = written({ tenantName: TURNED, newAddress: `ada@x\n\u202e.example` })
    const lines = written({ tenantName: 'Acme' }).text.split('\n')
    expect(turned.text.split('\n')).toHaveLength(lines.length)
    expect(turned.text + turned.html).not.toMatch(/[\r\u2028\u202e]/)
  })
})

const TURNED = 'Acme\r\nBcc: eve@example.com\u2028\u202egro'

test('the outbox keeps every subject on one line of at most 200 characters', async () => {
  using folder = temporaryFolder()
  await using fixture = await openMail({ dataDir: folder.path })
  for (const { written } of casesOf(ALL)) {
    const turned = await fixture.post('ada@example.com', written({ tenantName: TURNED }))
    const long = await fixture.post('ada@example.com', written({ tenantName: '𝒜'.repeat(200) }))
    const oneLine = /^[^\p{Cc}\u2028\u202e]*Acme Bcc: eve@example\.com {1,2}gro/u
    expect(fixture.read(turned)?.subject).toMatch(oneLine)
    expect([...(fixture.read(long)?.subject ?? '')].length).toBeLessThanOrEqual(200)
  }
})

test.each(casesOf({ ...WITH_LINK, ...WITH_CODE }))(
  'a code is shown once besides the link, with its lifetime: $name, $language',
  ({ language, written }) => {
    const { text, html } = written()
    expect(text).toContain(`\n\n    ${CODE}\n\n`)
    expect(count(text.replaceAll(LINK, ''), CODE)).toBe(1)
    expect(count(html.replaceAll(LINK_IN_HTML, ''), CODE)).toBe(1)
    expect(count(html, `>${CODE}</td>`)).toBe(1)
    for (const part of [text, html]) expect(part).toContain(LIFETIMES[language])
  },
)

test.each(casesOf(WITH_LINK))('a link is in text and HTML: $name, $language', ({ written }) => {
  const { text, html } = written()
  expect(count(text, LINK)).toBe(1)
  expect(text).toContain(`\n${LINK}\n`)
  expect(count(html, `href="${LINK_IN_HTML}"`)).toBe(1)
  expect(count(html, `>${LINK_IN_HTML}</span>`)).toBe(1)
})

test.each(casesOf({ ...WITH_CODE, ...NOTICES }))(
  'no other email has a link: $name, $language',
  ({ written }) => {
    const { text, html } = written()
    expect(text + html).not.toMatch(/https?:|<a /)
  },
)

test.each(casesOf(NOTICES))(
  'a notice has no code, but a warning: $name, $language',
  ({ language, written }) => {
    const { text, html } = written()
    expect(text + html).not.toContain(CODE)
    const warnings = {
      en: /If this wasn't you, .*immediately/,
      de: /Wenn du das nicht warst, .*sofort/,
    }
    expect(text).toMatch(warnings[language])
  },
)

test('people who did not ask for an email are told to ignore it', () => {
  const [en, de] = [createMailTemplates('en'), createMailTemplates('de')]
  for (const kind of ['verification', 'registrationCode', 'emailChange'] as const) {
    expect(en[kind](ABOUT).text).toMatch(/ignore .*do not confirm anything/)
    expect(de[kind](ABOUT).text).toMatch(/Ignoriere .*bestätige nichts/)
  }
  expect(en.recovery(ABOUT).text).toContain('ignore this email: nothing has changed yet')
  expect(de.recovery(ABOUT).text).toContain('ignoriere diese E-Mail: Noch hat sich nichts geändert')
  expect(en.loginCode(ABOUT).text).toContain('Never share it')
  expect(de.loginCode(ABOUT).text).toContain('Gib ihn niemals weiter')
})

test.each(casesOf(CHANGE_NOTICE))(
  'the old address sees the new one in part: $language',
  ({ written }) => {
    const { subject, text, html } = written()
    for (const part of [text, html]) expect(part).toContain('g•••@example.net')
    expect(subject + text + html).not.toContain('grace')
  },
)

test('emails tell whether a second factor is on or off', () => {
  const { on, off } = NOTICES as { on: Write; off: Write }
  const texts = casesOf({ on, off }).flatMap(({ written }) => [written().subject, written().text])
  expect(new Set(texts).size).toBe(8)
})
