import { expect, test } from 'bun:test'
import { createMailTemplates } from '../../../../../src/engines/gate/sign-in/mail-templates/index.ts'
import { defaultText } from '../../../../../src/engines/gate/sign-in/mail-templates/samples.ts'
import {
  checkedMailText,
  MAIL_KINDS,
  type MailKind,
} from '../../../../../src/engines/gate/sign-in/mail-templates/texts.ts'
import { LANGUAGES } from '../../../../../src/engines/gate/sign-in/model.ts'

const KINDS = Object.keys(MAIL_KINDS) as MailKind[]
const check = (text: { subject?: string; intro?: string }, kind: MailKind = 'verification') =>
  checkedMailText(kind, { subject: null, intro: null, ...text })

test.each([
  [{ subject: 'Hello\r\nBcc: eve@example.com' }, 'subject', 'characters'],
  [{ subject: 'Hello \u202eevil' }, 'subject', 'characters'],
  [{ subject: 'Hello \u200b' }, 'subject', 'characters'],
  [{ subject: 'x'.repeat(151) }, 'subject', 'too_long'],
  [{ subject: 'Your code is {{code}}' }, 'subject', 'unknown'],
  [{ subject: 'Expires in {{lifetime}}' }, 'subject', 'unknown'],
  [{ subject: '{{}}' }, 'subject', 'unknown'],
  [{ subject: 'Hello {{name' }, 'subject', 'format'],
  [{ subject: 'Go to https://evil.example' }, 'subject', 'not_allowed'],
  [{ intro: 'Go to WWW.evil.example' }, 'intro', 'not_allowed'],
  [{ intro: 'Go to javascript://x' }, 'intro', 'not_allowed'],
  [{ intro: 'Hello \u2066evil' }, 'intro', 'characters'],
  [{ intro: 'Hello \0' }, 'intro', 'characters'],
  [{ intro: 'x'.repeat(1001) }, 'intro', 'too_long'],
  [{ intro: 'a\n\n'.repeat(6) }, 'intro', 'too_many'],
  [{ intro: '{{link}}' }, 'intro', 'unknown'],
  [{ intro: '{{new_address}}' }, 'intro', 'unknown'],
])('%j is refused: %s, %s', (text, field, rule) => {
  expect(() => check(text)).toThrow(expect.objectContaining({ field, rule }))
})

test('All problems of a text are reported, and what a kind has is allowed', () => {
  const wrong = { subject: '{{x}}', intro: '{{y}}' }
  const errors = [{ field: 'subject' }, { field: 'intro' }]
  expect(() => check(wrong)).toThrow(
    expect.objectContaining({ fieldErrors: errors.map((one) => expect.objectContaining(one)) }),
  )
  const intro = 'שלום {{ name }}!\r\n\r\nYour new address is {{new_address}}.'
  expect(check({ subject: '  ', intro }, 'email_change_notice')).toEqual({
    subject: null,
    intro: intro.replaceAll('\r', ''),
  })
})

const ATTACK = '<img src=x onerror=alert(1)>'
const ABOUT = {
  tenantName: '{{code}} & Co',
  code: '481516',
  link: 'https://gate.example.org/?code=481516',
  lifetimeMs: 900_000,
  linkLifetimeMs: 900_000,
  newAddress: 'grace@example.com',
}
const textOf = () => ({
  subject: 'For {{name}}',
  intro: `{{name}} says ${ATTACK}\n\nfor {{ lifetime }}`,
})

test.each(LANGUAGES)(
  'An own text in %s replaces the subject and introduction, and nothing else',
  (language) => {
    const own = createMailTemplates(language, { textOf })
    const usual = createMailTemplates(language)
    const mail = own.recovery(ABOUT)
    const minutes = language === 'de' ? '15 Minuten' : '15 minutes'
    expect(mail.subject).toBe('For {{code}} & Co')
    expect(mail.text).toContain(`{{code}} & Co says ${ATTACK}\n\nfor ${minutes}\n\n    481516\n\n`)
    expect(mail.html).toContain('{{code}} &amp; Co says &lt;img src=x onerror=alert(1)&gt;')
    const end = (text: string) => text.slice(text.indexOf('    481516'))
    expect(end(mail.text)).toBe(end(usual.recovery(ABOUT).text))
    // The advice about a change that someone else made stays.
    const warning = /^(If this wasn't you|Wenn du das nicht warst), .*$/m
    for (const name of ['passwordChanged', 'emailChangeNotice'] as const)
      expect(warning.exec(own[name](ABOUT).text)?.[0]).toBe(
        warning.exec(usual[name](ABOUT).text)?.[0] ?? '',
      )
    expect(own.loginCode(ABOUT).text).toContain(
      language === 'de' ? 'niemals weiter' : 'Never share it',
    )
  },
)

test('Default texts are valid own texts', () => {
  for (const kind of KINDS)
    for (const language of LANGUAGES) {
      const text = defaultText(kind, language)
      expect(text.subject).toContain('{{name}}')
      expect(text.intro).not.toContain('•')
      expect(checkedMailText(kind, text)).toEqual(text)
    }
})
