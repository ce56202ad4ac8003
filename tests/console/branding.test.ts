import { expect, test } from 'bun:test'
import { jpeg, png } from '../platform/branding/images.ts'
import { addressIn } from '../support/address.ts'
import { pageOf, type SignedIn, useConsole, WITH_MAIL } from './fixture.ts'

const PAGE = '/settings/branding'
const EMAIL = `${PAGE}/emails/recovery`

const app = await useConsole()
const mailing = await useConsole({ env: WITH_MAIL })
const { branding } = app.platform

/** Submits a form with files, as a browser does. */
async function upload({ cookie }: SignedIn, path: string, files: Record<string, Blob | string>) {
  const headers = { accept: 'text/html', cookie }
  const body = new FormData()
  for (const [name, value] of Object.entries(files)) body.append(name, value)
  return pageOf(await app.raw(addressIn(app, headers, path), { method: 'POST', headers, body }))
}

test('Owners change the branding, and see what became of the color', async () => {
  const { id, owner } = await app.newTenant()
  await owner.sees(PAGE, 'Sign in to Acme', 'The default colors can be read')
  const typed = {
    display_name: 'Acme Cloud',
    accent_color: '#FFD400',
    support_url: 'help@example.com',
  }
  const saved = await owner.press(PAGE, 'Save branding', typed)
  saved.says('Branding saved.', 'Sign in to Acme Cloud', 'Buttons: black text on #ffd400 (14.6:1)')
  saved.says('darkened to #', 'Links in dark mode: #ffd400', '/ffd400.css"')
  expect(branding.of(id)).toMatchObject({
    displayName: 'Acme Cloud',
    accent: '#ffd400',
    supportUrl: 'mailto:help@example.com',
  })
  expect(owner.audited('branding.changed')).toHaveLength(1)
})

test('A preview shows what is typed and saves nothing, and says what is wrong', async () => {
  const { id, owner } = await app.newTenant()
  const typed = { intent: 'preview', display_name: 'Next <b>name</b>', accent_color: '#0000ff' }
  const shown = await owner.send(PAGE, typed)
  expect(shown.status).toBe(200)
  shown.says('Sign in to Next <b>name</b>', 'value="#0000ff"', '/0000ff.css"')
  const refused = await owner.send(PAGE, { ...typed, accent_color: 'blue', terms_url: 'x' })
  expect([refused.status, refused.wrong]).toEqual([422, ['accent_color', 'terms_url']])
  refused.says('id="field-preview-accent_color-error"', 'Sign in to Acme')
  expect(branding.of(id)).toMatchObject({ displayName: null, accent: null })
})

test('Logos are uploaded, replaced one by one, and deleted', async () => {
  const { id, owner } = await app.newTenant()
  await owner.open(PAGE)
  const first = await upload(owner, `${PAGE}/logos`, {
    light: new Blob([new Uint8Array(png())]),
    dark: new Blob([]),
  })
  expect(first.status).toBe(303)
  await upload(owner, `${PAGE}/logos`, { dark: new Blob([new Uint8Array(jpeg(64, 32))]) })
  const { light, dark } = branding.of(id).logos
  expect([light?.type, dark?.type]).toEqual(['image/png', 'image/jpeg'])
  const shown = await owner.sees(PAGE, light?.path ?? '-', dark?.path ?? '-')
  shown.says('Delete logo for light pages')
  await owner.send(`${PAGE}/logos/delete`, { theme: 'dark' })
  expect(branding.of(id).logos).toEqual({ light })
})

test('A file that is no small image is refused beside its field', async () => {
  const { id, owner } = await app.newTenant()
  await owner.open(PAGE)
  const svg = new File(['<svg onload="alert(1)"/>'], 'logo.png', { type: 'image/png' })
  const refused = await upload(owner, `${PAGE}/logos`, {
    light: new Blob([new Uint8Array(png())]),
    dark: svg,
  })
  expect([refused.status, refused.wrong]).toEqual([422, ['dark']])
  refused.says('Must be a PNG, JPEG or WebP image').omits('onload')
  const none = await upload(owner, `${PAGE}/logos`, { light: new Blob([]) })
  expect([none.status, none.wrong]).toEqual([422, ['light']])
  expect(branding.of(id).logos).toEqual({})
})

test('The text of an email is changed per language, previewed, and restored', async () => {
  const { id, owner } = await app.newTenant()
  const german = `${EMAIL}?language=de`
  await owner.sees(german, 'Stelle dein Konto bei {{name}} wieder her', 'Konto wiederherstellen')
  const text = { subject: 'Hallo von {{name}}', intro: 'Erster Absatz.\r\n\r\n<b>Zweiter</b>' }
  const preview = await owner.send(EMAIL, { ...text, language: 'de', intent: 'preview' })
  preview.says('Hallo von Acme', '<p dir="auto">Erster Absatz.</p>', '&lt;b>Zweiter&lt;/b>')
  await owner.sees(german, 'value="Stelle dein Konto bei {{name}} wieder her"')
  const saved = await owner.press(german, 'Save email', text)
  saved.says('Email saved.', 'value="Hallo von {{name}}"', 'Code und Link')
  await owner.sees(PAGE, 'Recover account', 'German')
  ;(await owner.sees(EMAIL, 'Recover your Acme account')).omits('Hallo')
  const refused = await owner.send(EMAIL, { language: 'de', subject: '{{code}}', intro: '' })
  expect([refused.status, refused.wrong]).toEqual([422, ['subject']])
  // Both the default text and none are no text of the tenant's own.
  const { defaultSubject } = app.gate.tenantMails.find({ tenantId: id }, 'recovery', 'de')
  await owner.press(german, 'Save email', { subject: defaultSubject, intro: '' })
  const { subject, intro } = app.gate.tenantMails.find({ tenantId: id }, 'recovery', 'de')
  expect([subject, intro]).toEqual([null, null])
  for (const path of [`${PAGE}/emails/welcome`, `${EMAIL}?language=fr`])
    expect((await owner.open(path)).status).toBe(404)
})

test('A test email has the saved text, goes to the own verified address, and is limited', async () => {
  const { owner, as, id } = await mailing.newTenant()
  const path = '/settings/branding/emails/password_changed'
  await owner.send(path, { language: 'de', subject: 'Neues Passwort', intro: '' })
  const sent = await owner.press(`${path}?language=de`, 'Send test email')
  sent.says('sent to your address')
  const { data: mails } = mailing.mail.outbox.list('all', { recipient: owner.email, limit: 10 })
  expect(mails.map(({ subject }) => subject)).toEqual(['[Test] Neues Passwort'])
  expect(owner.audited('branding.email_tested')).toHaveLength(1)
  const again = await owner.follow(await owner.send(`${path}/test`, { language: 'de' }))
  again.says('Not sent: too many test emails')
  const member = await as('member')
  ;(await member.open(path)).omits('Send test email')
  expect((await member.send(`${path}/test`, { language: 'de' })).status).toBe(403)

  const unverified = await mailing.signIn({ isVerified: false, roles: { [id]: 'owner' } })
  ;(await unverified.open(path)).omits('Send test email').says('verify your address')
  expect((await unverified.send(`${path}/test`, { language: 'en' })).status).toBe(409)

  const withoutMail = (await app.newTenant()).owner
  ;(await withoutMail.open(path)).omits('Send test email').says("Test emails can't be sent yet.")
  expect((await withoutMail.send(`${path}/test`, { language: 'en' })).status).toBe(409)
})

test('Others see the branding and the emails, and can not change them', async () => {
  const { as } = await app.newTenant()
  const member = await as('member')
  const shown = await member.sees(PAGE, 'Only owners can change the branding', 'Sign in to Acme')
  shown.omits('Save branding', 'Upload logo', 'hx-post')
  ;(await member.sees(EMAIL, 'Only owners can change')).omits('Save email')
  for (const path of [PAGE, `${PAGE}/logos`, `${PAGE}/logos/delete`, EMAIL])
    expect((await member.send(path)).status).toBe(403)
})
