import { expect, test } from 'bun:test'
import { jpeg, png } from '../../../platform/branding/images.ts'
import { bodyOf, type Json, plain, SETTINGS, useGate } from '../fixture.ts'

const gate = await useGate()

const BRANDING = `${SETTINGS}/branding`
const LOGOS = `${BRANDING}/logos`
const EMAILS = `${BRANDING}/emails`
const NONE = {
  display_name: null,
  accent_color: null,
  support_url: null,
  terms_url: null,
  privacy_url: null,
  sender_name: null,
  colors: null,
  logos: { light: null, dark: null },
  updated_at: null,
}

test('Branding is initially that of Gatehouse, and changes field by field', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  expect(await bodyOf(acme.api.get(BRANDING))).toEqual(NONE)
  const named = await bodyOf(
    acme.api.put(BRANDING, { display_name: '  أكمي  ', accent_color: '#FFD400' }),
  )
  expect(named).toMatchObject({
    display_name: 'أكمي',
    accent_color: '#ffd400',
    colors: { button: '#ffd400', button_text: '#000000', dark_text: '#ffd400' },
  })
  const sent = await bodyOf(acme.api.put(BRANDING, { sender_name: 'Acme, Inc.', accent_color: '' }))
  expect(sent).toMatchObject({
    display_name: 'أكمي',
    accent_color: null,
    sender_name: 'Acme, Inc.',
  })
  expect(await bodyOf(acme.api.get(BRANDING))).toEqual(sent)
  expect(await bodyOf(other.api.get(BRANDING))).toEqual(NONE)
})

test.each([
  ['display_name', 'Acme\r\nBcc: eve@example.com'],
  ['display_name', '\u202eemcA'],
  ['display_name', 'Ac\u200bme'],
  ['display_name', 'a'.repeat(65)],
  ['display_name', 'https://evil.example'],
  ['sender_name', 'Bank <bank@example.com>'],
  ['sender_name', 'bank@example.com'],
  ['sender_name', 'Acme\nBcc: eve@example.com'],
  ['sender_name', '"Acme'],
  ['accent_color', 'red'],
  ['accent_color', '#fff'],
  ['accent_color', '#ffffff;}*{display:none'],
  ['accent_color', '#gggggg'],
  ['support_url', 'javascript:alert(1)'],
  ['support_url', 'mailto:a@example.com?subject=x'],
  ['support_url', 'mailto:a@example.com,b@example.com'],
  ['support_url', 'mailto:a%40example.com%2Cb@example.com'],
  ['support_url', 'mailto:a#b@example.com'],
  ['terms_url', 'javascript:alert(1)'],
  ['terms_url', ' JavaScript:alert(1)'],
  ['terms_url', 'data:text/html,x'],
  ['terms_url', 'http://example.com'],
  ['terms_url', '//example.com'],
  ['terms_url', 'mailto:a@example.com'],
  ['privacy_url', 'https://user:secret@example.com'],
  ['privacy_url', 'https://example.com/"onclick=x'],
  ['privacy_url', 'https://example.com/\u202e'],
  ['privacy_url', `https://example.com/${'a'.repeat(500)}`],
])('%s can not be %j', async (field, value) => {
  const { api } = await gate.newTenant()
  expect(await api.put(BRANDING, { [field]: value })).toMatchObject(plain(400, `${field}: `))
  expect(await bodyOf(api.get(BRANDING))).toEqual(NONE)
})

test.each([
  ['Acme', 'Acme'],
  ['Acme\u200f \u200bInc.', 'Acme Inc.'],
  ['Locked: open https://www.evil.example/now', 'Locked: open evil.example/now'],
  ['hthttps://tps:/:///www.evil.example', 'tps:/ / evil.example'],
  ['WWW.acme.example', 'acme.example'],
  ['https://', '–'],
  ['a'.repeat(65), `${'a'.repeat(63)}…`],
])('Users of a tenant named %j see %j', async (name, shown) => {
  const { tenants, branding } = gate.app.platform
  const { id } = await tenants.create({ kind: 'cli' }, { name, plan: 'free' })
  expect(branding.nameOf(id)).toBe(shown)
})

test('Logos are uploaded together or alone, and deleted by null', async () => {
  const { api } = await gate.newTenant()
  const [light, dark] = [png(64, 32).toString('base64'), jpeg(40, 20).toString('base64')]
  const { logos } = await bodyOf(api.put(LOGOS, { light, dark }))
  expect(logos).toMatchObject({
    light: { type: 'image/png', width: 64, height: 32 },
    dark: { type: 'image/jpeg', width: 40, height: 20 },
  })
  const { pathname } = new URL(logos.light.url)
  expect((await gate.app.raw(pathname)).status).toBe(200)
  expect((await bodyOf(api.put(LOGOS, { light: null }))).logos).toEqual({
    light: null,
    dark: logos.dark,
  })
  expect((await gate.app.raw(pathname)).status).toBe(404)
})

test('A logo that is no small image is refused, and the other one with it', async () => {
  const { api } = await gate.newTenant()
  const svg = Buffer.from('<svg onload="alert(1)"/>').toString('base64')
  for (const dark of [
    svg,
    'not base64',
    '',
    png(16, 16, { width: 9999, height: 9999 }).toString('base64'),
  ]) {
    const refused = await api.put(LOGOS, { light: png().toString('base64'), dark })
    expect(refused).toMatchObject(plain(400, 'dark: '))
  }
  expect(await bodyOf(api.get(BRANDING))).toEqual(NONE)
})

const textOf = ({ emails }: Json, kind: string, language: string) =>
  emails.find((email: Json) => email.kind === kind && email.language === language)

test('Texts of emails are changed per kind and language, and restored by null', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const usual = await bodyOf(acme.api.get(EMAILS))
  expect(usual.emails).toHaveLength(20)
  expect(textOf(usual, 'recovery', 'de')).toMatchObject({
    subject: null,
    intro: null,
    default_subject: 'Stelle dein Konto bei {{name}} wieder her',
    placeholders: ['name', 'lifetime'],
  })
  const of = { kind: 'recovery', language: 'de' }
  await bodyOf(acme.api.put(EMAILS, { emails: [{ ...of, subject: 'Hallo von {{name}}' }] }))
  const changed = await bodyOf(acme.api.put(EMAILS, { emails: [{ ...of, intro: 'Guten Tag.' }] }))
  const own = { subject: 'Hallo von {{name}}', intro: 'Guten Tag.' }
  expect(textOf(changed, 'recovery', 'de')).toMatchObject(own)
  expect(textOf(changed, 'recovery', 'en')).toMatchObject({ subject: null, intro: null })
  expect(await bodyOf(other.api.get(EMAILS))).toEqual(usual)
  const back = { emails: [{ ...of, subject: null, intro: '' }] }
  expect(await bodyOf(acme.api.put(EMAILS, back))).toEqual(usual)
})

test('One wrong text refuses all of a request, by its position', async () => {
  const { api } = await gate.newTenant()
  const usual = await bodyOf(api.get(EMAILS))
  const good = { kind: 'recovery', language: 'en', subject: 'Hello' }
  const wrong = { kind: 'login_code', language: 'en', subject: 'Your code is {{code}}' }
  const refused = await api.put(EMAILS, { emails: [good, wrong] })
  expect(refused).toMatchObject(plain(400, 'emails.1.subject: '))
  for (const change of [{ kind: 'welcome' }, { language: 'fr' }])
    expect(await api.put(EMAILS, { emails: [{ ...good, ...change }] })).toMatchObject(
      plain(400, 'emails.0.'),
    )
  expect(await bodyOf(api.get(EMAILS))).toEqual(usual)
})

test('Changes are in the audit log', async () => {
  const { api, id } = await gate.newTenant()
  await api.put(BRANDING, { accent_color: '#ffd400' })
  await api.put(LOGOS, { light: png().toString('base64') })
  await api.put(EMAILS, { emails: [{ kind: 'recovery', language: 'en', subject: 'Hello' }] })
  const { entries } = gate.app.platform.audit.list({ tenantId: id, action: 'branding.', limit: 10 })
  expect(entries.map(({ action, detail }) => [action, detail])).toEqual([
    [
      'branding.email_changed',
      { email: 'recovery', language: 'en', subject: 'Hello', intro: null },
    ],
    ['branding.logos_changed', { light: { type: 'image/png', width: 64, height: 32 } }],
    ['branding.changed', { accent_color: '#ffd400' }],
  ])
})
