import { beforeEach, expect, test } from 'bun:test'
import { renderMail } from '../../../src/platform/mail/index.ts'
import { jpeg, png } from '../branding/images.ts'
import { newMailAndServer, opened } from './support.ts'

const ACTOR = { kind: 'cli' } as const
const CONTENT = {
  language: 'en',
  tenantName: 'Acme',
  heading: 'Hello',
  paragraphs: ['You'],
  footer: 'Bye',
}
const link = { label: 'Go', url: 'https://gate.example.org/', orOpen: 'Or:' }

const { branding, db, send, server, tenant } = await opened(newMailAndServer())
beforeEach(() => {
  server.received.length = 0
})

test('The sender name of a tenant is on its mails alone, with the address of the installation', async () => {
  const [acme, other] = [tenant('acme'), tenant('other')]
  await branding.change(ACTOR, acme, { sender_name: 'Acme, Inc. – Konten' })
  for (const tenantId of [acme, other, null]) await send('ada@example.com', { tenantId })
  expect(server.received.map(({ parsed }) => parsed.from?.value)).toEqual(
    ['Acme, Inc. – Konten', 'Gatehouse', 'Gatehouse'].map((name) => [
      { name, address: 'gate@example.org' },
    ]),
  )
})

test('A stored sender name adds no header and no address, whatever is in it', async () => {
  const evil = tenant('evil')
  await branding.change(ACTOR, evil, { sender_name: 'Evil' })
  const name = 'Bank <bank@example.com>,\r\nBcc: eve@example.com'
  db.client.run('UPDATE branding SET sender_name = ? WHERE tenant_id = ?', [name, evil])
  await branding.change(ACTOR, evil, {})
  await send('ada@example.com', { tenantId: evil })
  await branding.change(ACTOR, evil, { sender_name: '=?utf-8?Q?bank=40example=2Ecom?=' })
  await send('ada@example.com', { tenantId: evil })
  const [mail, encoded] = server.received
  expect(mail).toMatchObject({ from: 'gate@example.org', to: ['ada@example.com'] })
  expect(mail?.parsed.headers.has('bcc')).toBe(false)
  expect(mail?.parsed.from?.value.map(({ address }) => address)).toEqual(['gate@example.org'])
  expect(encoded?.parsed.from?.value[0]?.name).toBe('= ?utf-8?Q?bank=40example=2Ecom?=')
})

test('Logos are in the mail itself, and those of no other tenant', async () => {
  const [shop, thief] = [tenant('shop'), tenant('thief')]
  await branding.setLogos(ACTOR, shop, { light: png() })
  const look = await branding.setLogos(ACTOR, shop, { dark: jpeg(800, 400) })
  const { html } = renderMail({ ...CONTENT, look })
  expect(html).toContain('width="80" height="40" alt="Acme"')
  await send('ada@example.com', { tenantId: shop, html })
  await send('ada@example.com', { tenantId: thief, html })
  const [own, foreign] = server.received
  const attached = own?.parsed.attachments.map(({ cid, contentType, content }) => [
    cid,
    contentType,
    content,
  ])
  expect(attached).toEqual([
    [`${look.logos.light?.hash}@logo`, 'image/png', png()],
    [`${look.logos.dark?.hash}@logo`, 'image/jpeg', jpeg(800, 400)],
  ])
  expect(foreign?.parsed.attachments).toEqual([])
})

test('A logo for light pages alone has a light plate in the dark', () => {
  const logo = { type: 'image/png', width: 10, height: 10, hash: '0'.repeat(64), path: '' } as const
  const { html } = renderMail({ ...CONTENT, look: { accent: null, logos: { light: logo } } })
  expect(html).toContain('<img class="plate"')
  expect(html).not.toContain('<img class="by-')
})

test('Buttons have the accent color, and contacts are links', () => {
  const look = { accent: '#ffd400', logos: {} }
  const contacts = [
    { label: 'Support', url: 'mailto:help@example.com' },
    { label: 'Terms', url: 'https://example.com/?a=1&b="' },
  ]
  const { html, text } = renderMail({ ...CONTENT, link, look, contacts })
  expect(html).toMatch(/background-color:#ffd400;border:1px solid #(?!ffd400)[0-9a-f]{6};/)
  expect(html).toContain('color:#000000;text-decoration:none">Go</a>')
  expect(html).toContain('href="mailto:help@example.com"')
  expect(html).toContain('href="https://example.com/?a=1&amp;b=%22"')
  expect(text).toContain('Bye\nSupport: help@example.com\nTerms: https://example.com/?a=1&b=%22\n')
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'http://example.com'])
    expect(() => renderMail({ ...CONTENT, contacts: [{ label: 'x', url }] })).toThrow(TypeError)
})
