import { describe, expect, test } from 'bun:test'
import {
  createMailTemplates,
  type MailTemplates,
} from '../../../../../src/engines/gate/sign-in/mail-templates/index.ts'
import { LANGUAGES, type Language } from '../../../../../src/engines/gate/sign-in/model.ts'
import { openMail } from '../../../../platform/mail/support.ts'
import { temporaryFolder } from '../../../../support/folder.ts'

const MINUTE = 60_000
const CODE = '481516'
const LINK = `https://gate.example.org/auth/self-service/recovery?flow=0197d6c2&code=${CODE}`
const LINK_IN_HTML = LINK.replaceAll('&', '&amp;')

const ABOUT = {
  tenantName: 'Acme & Söhne',
  code: CODE,
  link: LINK,
  lifetimeMs: 15 * MINUTE,
  linkLifetimeMs: 15 * MINUTE,
  newAddress: 'grace@example.net',
}

type About = typeof ABOUT
type Write = (letters: MailTemplates, about: About) => ReturnType<MailTemplates['verification']>

const WITH_LINK: Record<'verification' | 'recovery' | 'emailChange', Write> = {
  verification: (letters, about) => letters.verification(about),
  recovery: (letters, about) => letters.recovery(about),
  emailChange: (letters, about) => letters.emailChange(about),
}

const WITH_CODE: Record<'loginCode' | 'registrationCode', Write> = {
  loginCode: (letters, about) => letters.loginCode(about),
  registrationCode: (letters, about) => letters.registrationCode(about),
}

const NOTICES: Record<'emailChangeNotice' | 'passwordChanged' | 'on' | 'off', Write> = {
  emailChangeNotice: (letters, about) => letters.emailChangeNotice(about),
  passwordChanged: (letters, about) => letters.passwordChanged(about),
  on: (letters, about) => letters.secondFactorChanged({ ...about, isOn: true }),
  off: (letters, about) => letters.secondFactorChanged({ ...about, isOn: false }),
}

const ALL = { ...WITH_LINK, ...WITH_CODE, ...NOTICES }

/** Each with the language and the name of the letter. */
const casesOf = (writes: Record<string, Write>) =>
  LANGUAGES.flatMap((language) =>
    Object.entries(writes).map(([name, write]) => ({
      language,
      name,
      written: (about: Partial<About> = {}) =>
        write(createMailTemplates(language), { ...ABOUT, ...about }),
    })),
  )

const count = (text: string, part: string): number => text.split(part).length - 1

const LIFETIMES: Record<Language, string> = { en: '15 minutes', de: '15 Minuten' }

describe('a letter', () => {
  test.each(casesOf(ALL))('says whose it is: $name, $language', ({ written }) => {
    const { subject, text, html } = written()

    expect(subject).toContain('Acme & Söhne')
    expect(text).toContain('--\nAcme & Söhne\n')
    expect(html).toContain('>Acme &amp; Söhne</p>')
  })

  test.each(casesOf(ALL))(
    'says what it is written in: $name, $language',
    ({ language, written }) => {
      expect(written().html).toContain(`<html lang="${language}">`)
    },
  )

  test.each(casesOf(ALL))('leaves no gap unfilled: $name, $language', ({ written }) => {
    const { subject, text, html } = written()

    expect(subject + text + html).not.toMatch(/undefined|null|NaN|\[object|\$\{/)
    expect(`${subject}\n${text}`).not.toMatch(/\S {2}\S| [.,:;]|\.\./)
  })

  test.each(casesOf(ALL))('has a subject without secrets: $name, $language', ({ written }) => {
    const { subject } = written()

    expect(subject).not.toContain(CODE)
    expect(subject).not.toMatch(/\d|https?:|grace|@/)
    expect(subject.length).toBeLessThan(70)
  })
})

describe('a code', () => {
  test.each(casesOf({ ...WITH_LINK, ...WITH_CODE }))(
    'is in text and HTML, once besides the link, with how long it is good: $name, $language',
    ({ language, written }) => {
      const { text, html } = written()

      expect(text).toContain(`\n\n    ${CODE}\n\n`)
      expect(count(text.replaceAll(LINK, ''), CODE)).toBe(1)
      expect(count(html.replaceAll(LINK_IN_HTML, ''), CODE)).toBe(1)
      expect(count(html, `>${CODE}</td>`)).toBe(1)
      expect(text).toContain(LIFETIMES[language])
      expect(html).toContain(LIFETIMES[language])
    },
  )

  test.each(casesOf(NOTICES))('is in no notice, nor is a link: $name, $language', ({ written }) => {
    const { text, html } = written()

    expect(text + html).not.toContain(CODE)
    expect(text + html).not.toMatch(/https?:|<a /)
  })
})

describe('a link', () => {
  test.each(casesOf(WITH_LINK))('is in text and HTML: $name, $language', ({ written }) => {
    const { text, html } = written()

    expect(count(text, LINK)).toBe(1)
    expect(text).toContain(`\n${LINK}\n`)
    expect(count(html, `href="${LINK_IN_HTML}"`)).toBe(1)
    expect(count(html, `>${LINK_IN_HTML}</span>`)).toBe(1)
  })

  test.each(casesOf(WITH_CODE))('is not with a mere code: $name, $language', ({ written }) => {
    const { text, html } = written()

    expect(text + html).not.toMatch(/https?:|<a /)
  })
})

describe('whoever did not ask for a letter is told', () => {
  const en = createMailTemplates('en')
  const de = createMailTemplates('de')

  test('to ignore it, and to confirm nothing, when it would confirm an address', () => {
    for (const kind of ['verification', 'registrationCode', 'emailChange'] as const) {
      expect(en[kind](ABOUT).text).toMatch(/ignore .*do not confirm anything/)
      expect(de[kind](ABOUT).text).toMatch(/Ignoriere .*bestätige nichts/)
    }
  })

  test('that nothing has changed yet, when it would recover an account', () => {
    expect(en.recovery(ABOUT).text).toContain('ignore this email: nothing has changed yet')
    expect(de.recovery(ABOUT).text).toContain(
      'ignoriere diese E-Mail: Noch hat sich nichts geändert',
    )
  })

  test('what to do at once, when something has changed or is about to', () => {
    for (const { language, written } of casesOf(NOTICES)) {
      const warning = {
        en: /If this wasn't you, .*immediately/,
        de: /Wenn du das nicht warst, .*sofort/,
      }
      expect(written().text).toMatch(warning[language])
    }
  })
})

test('a code to sign in with is never to be passed on', () => {
  expect(createMailTemplates('en').loginCode(ABOUT).text).toContain('Never share it')
  expect(createMailTemplates('de').loginCode(ABOUT).text).toContain('Gib ihn niemals weiter')
})

test.each(casesOf({ emailChangeNotice: NOTICES.emailChangeNotice }))(
  'the old address learns of the new one, but not whole: $language',
  ({ written }) => {
    const { subject, text, html } = written()

    expect(text).toContain('g•••@example.net')
    expect(html).toContain('g•••@example.net')
    expect(subject + text + html).not.toContain('grace')
  },
)

test('whether a second factor is on or off can be told', () => {
  const texts = casesOf({ on: NOTICES.on, off: NOTICES.off }).flatMap(({ written }) => {
    const { subject, text } = written()
    return [subject, text]
  })

  expect(new Set(texts).size).toBe(8)
})

describe('nothing is left in another language', () => {
  const ENGLISH = /\b(the|your|you|this|it|if|not|open|confirm|enter|account|was|email below)\b/i
  const GERMAN = /[äöüß]|\b(der|das|und|oder|dein|deine|du|nicht|diese|diesen|wenn|konto|mit)\b/i
  const plain = { tenantName: 'Acme' }

  test.each(casesOf(ALL))('$name, $language', ({ language, written }) => {
    const { subject, text, html } = written(plain)
    const shown = html.replace(/<style>.*<\/style>/s, '').replaceAll(/<[^>]*>/g, ' ')
    const said = [subject, text, shown].join('\n').replaceAll(/https?:\S+/g, '')

    expect(said).toMatch(language === 'de' ? GERMAN : ENGLISH)
    expect(said).not.toMatch(language === 'de' ? ENGLISH : GERMAN)
  })
})

describe('a hostile name', () => {
  const ATTACK = `"><img src=x onerror='alert(1)'><a href=//evil.example>&amp;`
  const TURNED = 'Acme\r\nBcc: eve@example.com\u2028\u202egro'

  /** Every tag, as names: what markup a name could have brought in. */
  const tagsIn = (html: string) =>
    [...html.matchAll(/<\s*\/?\s*([a-z!][\w-]*)/gi)].map(([, tag]) => tag)

  test.each(casesOf(ALL))('is no markup: $name, $language', ({ written }) => {
    const { html } = written({ tenantName: ATTACK, newAddress: `x${ATTACK}@${ATTACK}` })

    expect(tagsIn(html)).toEqual(tagsIn(written().html))
    expect(html).toContain('&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;')
  })

  test.each(casesOf(ALL))('makes no lines and turns none: $name, $language', ({ written }) => {
    const plain = written({ tenantName: 'Acme' })
    const { text, html } = written({ tenantName: TURNED, newAddress: `ada@x\n\u202e.example` })

    expect(text.split('\n').length).toBe(plain.text.split('\n').length)
    expect(text + html).not.toMatch(/[\r\u2028\u202e]/)
  })

  test('is on one line in the subject, of a length that goes', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })

    for (const { written } of casesOf(ALL)) {
      const turned = await fixture.post('ada@example.com', written({ tenantName: TURNED }))
      const long = await fixture.post('ada@example.com', written({ tenantName: '𝒜'.repeat(200) }))

      expect(fixture.read(turned)?.subject).toMatch(
        /^[^\p{Cc}\u2028\u202e]*Acme Bcc: eve@example\.com {1,2}gro/u,
      )
      expect([...(fixture.read(long)?.subject ?? '')].length).toBeLessThanOrEqual(200)
    }
  })
})
